import {
  ActionIcon,
  Alert,
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
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useChangeFeed } from '../api/feed/changes.ts';
import { useLost } from '../api/connection.ts';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';
import { service } from '../api/service.ts';
import { focusContent } from '../parts/dialog.tsx';
import { IconBack, IconMoon, IconSearch, IconSun, IconUser } from '../parts/icons.tsx';
import { roleWords } from '../parts/role.ts';
import { localTime } from '../parts/format.ts';
import { useShownName, useWayBack } from './array-name.ts';
import { useFocusFollowsPage } from './focus-follows.ts';
import { IdleWarning } from './idle.tsx';
import { LockedDown } from './locked-down.tsx';
import { Palette } from './palette.tsx';
import { usePresent } from './present.ts';
import { useSessionTools } from './session.tsx';

/** As the keyboard of the computer has it. */
const SEARCH_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

const TITLES = { portal: 'Granary', array: 'Granary array', objects: 'Granary objects' } as const;

/** Header, menu and what is open. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const [isPaletteOpen, palette] = useDisclosure();
  const { session } = useSessionTools();
  useChangeFeed(service.kind);
  useFocusFollowsPage();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <UnstyledButton className="skip" onClick={focusContent}>
          Skip the menu
        </UnstyledButton>
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
              rightSection={<Kbd size="xs">{SEARCH_KEY}</Kbd>}
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
        <ScrollArea scrollbarSize={6} onClick={close}>
          <MenuOfPages />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Disconnected />
        <IdleWarning />
        {session.locked_down === true && <LockedDown>at the portal</LockedDown>}
        <Outlet />
      </AppShell.Main>
      <Palette isOpen={isPaletteOpen} open={palette.open} close={palette.close} />
    </AppShell>
  );
}

/** What the person may do inside an array; undefined until it is known, `''` where the person has no user there. */
function useRoleInside(arrayId: number | undefined): string | undefined {
  const place = usePlaces()[portal.arrays.getIdentity.api.name] ?? { base: '' };
  const { data } = useQuery({
    ...readOptions(portal.arrays.getIdentity, place, { array_id: arrayId ?? 0 }),
    enabled: arrayId !== undefined,
  });
  return arrayId === undefined || data === undefined ? undefined : (data.data.role ?? '');
}

/** The name of the array whose pages are open. */
function ArrayName({ id }: { readonly id: number }) {
  return (
    <Text fw={700} px="sm" py={4} truncate>
      {useShownName(id) ?? '…'}
    </Text>
  );
}

/** Figures that are old look like figures: says that they are. */
function Disconnected() {
  const lost = useLost();
  if (!lost) return null;
  const [title, what] =
    lost.base === '' ? ['No connection to the service', 'the service'] : ['The array does not answer', 'the array'];
  return (
    <Alert color="orange" variant="light" mb="md" role="status" title={title}>
      What is shown is as of {localTime(lost.since)}. The page goes on by itself when {what} answers again.
    </Alert>
  );
}

function MenuOfPages() {
  const { base, pages, arrayId } = usePresent();
  const back = useWayBack(arrayId);
  const { pathname } = useLocation();
  const { session } = useSessionTools();
  const inside = useRoleInside(arrayId);
  const role = arrayId === undefined ? session.role : inside;
  const own = role === '' ? [] : pages;
  const shown = own.filter(({ label, roles }) => label && (!roles || (role !== undefined && roles.includes(role))));
  const sections = Map.groupBy(shown, ({ section }) => section ?? '');
  return (
    <nav aria-label="Pages">
      {back !== undefined && (
        <NavLink
          component={Link}
          to={back.to}
          activeOptions={{ exact: true }}
          label={back.label}
          leftSection={<IconBack />}
        />
      )}
      {arrayId !== undefined && <ArrayName id={arrayId} />}
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
          {session.username}, {roleWords(session.role)}
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
