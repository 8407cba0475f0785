import { Button } from '@mantine/core';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Outlet,
  type AnyRoute,
} from '@tanstack/react-router';
import { service } from '../api/service.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { Failed, Missing } from '../parts/messages.tsx';
import { portalPages } from '../portal/pages.ts';
import { ArrayConsole } from './array-console.tsx';
import { Shell } from './shell.tsx';
import type { Page } from './pages.ts';

function NoPage() {
  return (
    <Missing
      what="page"
      action={
        <Button component={Link} to="/" variant="default">
          To the first page
        </Button>
      }
    />
  );
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NoPage,
  errorComponent: ({ error }) => <Failed error={error} />,
});

function mounted(parent: AnyRoute, pages: readonly Page[]): AnyRoute[] {
  return pages.map((page) =>
    createRoute({
      getParentRoute: () => parent,
      path: page.path === '' ? '/' : page.path,
      component: lazyRouteComponent(page.load),
    }),
  );
}

/** The pages of an array below the portal's own: `/arrays/7/block/volumes`. */
function arrayBranch(path: string, api: 'array' | 'objects', pages: readonly Page[]): AnyRoute {
  const branch = createRoute({
    getParentRoute: () => root,
    path: `/arrays/$arrayId/${path}`,
    component: () => (
      <ArrayConsole api={api}>
        <Outlet />
      </ArrayConsole>
    ),
  });
  return branch.addChildren(mounted(branch, pages));
}

function routes(): AnyRoute[] {
  if (service.kind === 'array') return mounted(root, arrayPages);
  if (service.kind === 'objects') return mounted(root, objectsPages);
  return [
    ...mounted(root, portalPages),
    arrayBranch('block', 'array', arrayPages),
    arrayBranch('objects', 'objects', objectsPages),
  ];
}

export const router = createRouter({
  routeTree: root.addChildren(routes()),
  defaultPreload: 'intent',
  // A page of another record begins anew: a secret that was shown, or a form, is not taken over to it.
  defaultRemountDeps: ({ params }) => params as Readonly<Record<string, string>>,
  defaultErrorComponent: ({ error }) => <Failed error={error} />,
});
