import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useChangeFeed } from '../api/changes.ts';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { service } from '../api/service.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { IconBack, IconMoon, IconSearch, IconSun, IconUser } from '../parts/icons.tsx';
import { portalPages } from '../portal/pages.ts';
import { Palette } from './palette.tsx';
import type { Page } from './pages.ts';
import { useSessionTools } from './session.tsx';

const TITLES = { portal: 'Granary', array: 'Granary array', objects: 'Granary objects' } as const;
const PAGES = { portal: portalPages, array: arrayPages, objects: objectsPages } as const;

/** Header, menu and what is open. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [isPaletteOpen, palette] = useDisclosure();
  useChangeFeed();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <UnstyledButton component={Link} to="/" aria-label={`${TITLES[service.kind]}, first page`}>
              <Text fw={700} size="lg">
                {TITLES[service.kind]}
              </Text>
            </UnstyledButton>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              variant="default"
              leftSection={<IconSearch size={16} />}
              rightSection={<Kbd size="xs">⌘K</Kbd>}
              onClick={palette.open}
              visibleFrom="sm"
            >
              Search
            </Button>
            <ActionIcon variant="default" size="lg" onClick={palette.open} hiddenFrom="sm" aria-label="Search">
              <IconSearch />
            </ActionIcon>
            <ColorScheme />
            <Person />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Menu">
        <ScrollArea onClick={close}>
          <MenuOfPages />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
      <Palette isOpen={isPaletteOpen} open={palette.open} close={palette.close} />
    </AppShell>
  );
}

/** Below which address the menu's pages are, and which: the array's where one is open, else the service's own. */
function usePresentMenu(): MenuProps {
  const { pathname } = useLocation();
  const inside = /^\/arrays\/(\d+)\/(block|objects)(?:\/|$)/.exec(pathname);
  if (!inside || service.kind !== 'portal') return { base: '', pages: PAGES[service.kind], back: undefined };
  const pages = inside[2] === 'block' ? arrayPages : objectsPages;
  return { base: `/arrays/${inside[1]}/${inside[2]}`, pages, back: `/arrays/${inside[1]}` };
}

function MenuOfPages() {
  const menu = usePresentMenu();
  const { session } = useSessionTools();
  return menu.back === undefined ? <PageLinks {...menu} role={session.role} /> : <MenuOfArray {...menu} />;
}

interface MenuProps {
  readonly base: string;
  readonly pages: readonly Page[];
  readonly back: string | undefined;
}

/** Behind the portal the role is that of the person's user in the array. */
function MenuOfArray(menu: MenuProps) {
  const [, id] = /^\/arrays\/(\d+)/.exec(menu.base) ?? [];
  const { data } = useRead(portal.arrays.getIdentity, { array_id: Number(id) });
  return <PageLinks {...menu} role={data?.data.role ?? ''} />;
}

function PageLinks({ base, pages, back, role }: MenuProps & { readonly role: string }) {
  const { pathname } = useLocation();
  const shown = pages.filter(({ label, roles }) => label && (!roles || roles.includes(role)));
  const sections = Map.groupBy(shown, ({ section }) => section ?? '');
  return (
    <nav aria-label="Pages">
      {back !== undefined && (
        <NavLink
          component={Link}
          to={back}
          activeOptions={{ exact: true }}
          label="The array at the portal"
          leftSection={<IconBack />}
        />
      )}
      {[...sections].map(([section, all]) => (
        <Fragment key={section}>
          {section !== '' && (
            <Text size="xs" c="dimmed" fw={600} mt="sm" px="sm">
              {section}
            </Text>
          )}
          {all.map(({ path, label, icon: Icon }) => {
            const to = path === '' ? base || '/' : `${base}/${path}`;
            const isActive = path === '' ? pathname === to || pathname === `${to}/` : isAtOrBelow(pathname, to);
            return (
              <NavLink
                key={path}
                component={Link}
                to={to}
                activeOptions={{ exact: path === '' }}
                label={label}
                active={isActive}
                aria-current={isActive ? 'page' : undefined}
                leftSection={Icon && <Icon />}
              />
            );
          })}
        </Fragment>
      ))}
    </nav>
  );
}

function isAtOrBelow(path: string, to: string): boolean {
  return path === to || path.startsWith(`${to}/`);
}

function ColorScheme() {
  const scheme = useComputedColorScheme('light');
  const { setColorScheme } = useMantineColorScheme();
  const other = scheme === 'dark' ? 'light' : 'dark';
  const label = `Switch to ${other}`;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size="lg" aria-label={label} onClick={() => setColorScheme(other)}>
        {scheme === 'dark' ? <IconSun /> : <IconMoon />}
      </ActionIcon>
    </Tooltip>
  );
}

function Person() {
  const { session, signOut } = useSessionTools();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Signed in as ${session.username}`}>
          <IconUser />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session.username}, {session.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/profile">
          Profile and sessions
        </Menu.Item>
        <Menu.Item component="a" href="/api/docs/" target="_blank">
          API pages
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
