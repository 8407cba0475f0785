import { useLocation } from '@tanstack/react-router';
import { service, type ServiceKind } from '../api/service.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { portalPages } from '../portal/pages.ts';
import type { Page } from './pages.ts';

export interface Present {
  readonly kind: ServiceKind;
  /** Below which address its pages are. */
  readonly base: string;
  readonly pages: readonly Page[];
  /** The array of the portal that is open. */
  readonly arrayId: number | undefined;
}

const PAGES = { portal: portalPages, array: arrayPages, objects: objectsPages } as const;

export function ownPages(): readonly Page[] {
  return PAGES[service.kind];
}

/** Whose pages are open: the array's where one is, else the service's own. */
export function usePresent(): Present {
  const { pathname } = useLocation();
  const [, arrayId, branch] = /^\/arrays\/(\d+)\/(block|objects)(?:\/|$)/.exec(pathname) ?? [];
  if (arrayId === undefined || service.kind !== 'portal')
    return { kind: service.kind, base: '', pages: ownPages(), arrayId: undefined };
  const kind = branch === 'block' ? 'array' : 'objects';
  return { kind, base: `/arrays/${arrayId}/${branch}`, pages: PAGES[kind], arrayId: Number(arrayId) };
}
