import type { Page } from '../app/pages.ts';
import {
  IconBell,
  IconChart,
  IconClock,
  IconDrive,
  IconFile,
  IconFolder,
  IconGear,
  IconGrid,
  IconHome,
  IconLink,
  IconMirror,
  IconPool,
  IconQuota,
  IconCamera,
  IconServer,
  IconStack,
  IconTerminal,
  IconUsers,
  IconVolume,
} from '../parts/icons.tsx';

const ADMINISTRATORS = ['admin'];

const storage: readonly Page[] = [
  { path: 'drives', label: 'Drives', icon: IconDrive, load: () => import('./drives/drives.tsx') },
  { path: 'drives/$driveId', load: () => import('./drives/drive.tsx') },
  { path: 'raid-groups', label: 'RAID groups', icon: IconStack, load: () => import('./raid-groups/raid-groups.tsx') },
  { path: 'raid-groups/$groupId', load: () => import('./raid-groups/raid-group.tsx') },
  { path: 'pools', label: 'Pools', icon: IconPool, load: () => import('./pools/pools.tsx') },
  { path: 'pools/$poolId', load: () => import('./pools/pool.tsx') },
  { path: 'volumes', label: 'Volumes and shares', icon: IconVolume, load: () => import('./volumes/volumes.tsx') },
  { path: 'volumes/$volumeId', load: () => import('./volumes/volume.tsx') },
  { path: 'servers', label: 'Servers', icon: IconServer, load: () => import('./servers/servers.tsx') },
  { path: 'servers/$serverId', load: () => import('./servers/server.tsx') },
];

const protection: readonly Page[] = [
  { path: 'snapshots', label: 'Snapshots', icon: IconCamera, load: () => import('./snapshots/snapshots.tsx') },
  { path: 'policies', label: 'Snapshot policies', icon: IconClock, load: () => import('./snapshots/policies.tsx') },
  { path: 'mirrors', label: 'Mirrors', icon: IconMirror, load: () => import('./mirrors/mirrors.tsx') },
  { path: 'remote-arrays', label: 'Remote arrays', icon: IconLink, load: () => import('./mirrors/remote-arrays.tsx') },
];

const files: readonly Page[] = [
  { path: 'nas', label: 'NAS users', icon: IconUsers, load: () => import('./files/nas.tsx') },
  { path: 'quotas', label: 'Quotas', icon: IconQuota, load: () => import('./files/quotas.tsx') },
  { path: 'lifecycle', label: 'File lifecycle', icon: IconFile, load: () => import('./files/lifecycle.tsx') },
  { path: 'audit', label: 'Audit log', icon: IconFolder, load: () => import('./files/audit.tsx') },
];

const watching: readonly Page[] = [
  { path: 'fills-up', label: 'What fills up first', icon: IconPool, load: () => import('./overview/fills-up.tsx') },
  { path: 'performance', label: 'Performance', icon: IconChart, load: () => import('./performance/performance.tsx') },
  { path: 'events', label: 'Events', icon: IconBell, load: () => import('./administration/events.tsx') },
];

const administration: readonly Page[] = [
  { path: 'users', label: 'Users', icon: IconUsers, load: () => import('./administration/users.tsx') },
  {
    path: 'settings',
    label: 'Settings',
    icon: IconGear,
    roles: ADMINISTRATORS,
    load: () => import('./administration/settings.tsx'),
  },
  {
    path: 'webhooks',
    label: 'Webhooks',
    icon: IconTerminal,
    roles: ADMINISTRATORS,
    load: () => import('./administration/webhooks.tsx'),
  },
  { path: 'profile', load: () => import('./administration/profile.tsx') },
  {
    path: 'everything',
    label: 'Everything else',
    icon: IconGrid,
    load: () => import('./administration/everything.tsx'),
  },
];

function below(section: string, pages: readonly Page[]): Page[] {
  return pages.map((page) => ({ ...page, section }));
}

export const arrayPages: readonly Page[] = [
  { path: '', label: 'Overview', icon: IconHome, load: () => import('./overview/overview.tsx') },
  ...below('Storage', storage),
  ...below('Protection', protection),
  ...below('Files', files),
  ...below('Monitoring', watching),
  ...below('Administration', administration),
];
