import type { Page } from '../app/pages.ts';
import {
  IconBell,
  IconBill,
  IconBucket,
  IconChart,
  IconDrive,
  IconFile,
  IconFolder,
  IconGear,
  IconGrid,
  IconHome,
  IconInbox,
  IconLink,
  IconPool,
  IconServer,
  IconTerminal,
  IconUser,
  IconUsers,
} from '../parts/icons.tsx';

const ARRAY = ['objs_admin'];
const ACCOUNT = ['account_admin'];
const BOTH = [...ARRAY, ...ACCOUNT];

const people: readonly Page[] = [
  {
    path: 'account',
    label: 'Your account',
    icon: IconFolder,
    roles: ACCOUNT,
    load: () => import('./accounts/own.tsx'),
  },
  {
    path: 'accounts',
    label: 'Accounts',
    icon: IconFolder,
    roles: ARRAY,
    load: () => import('./accounts/accounts.tsx'),
  },
  { path: 'accounts/$accountId', load: () => import('./accounts/account.tsx') },
  { path: 'users', label: 'Users and keys', icon: IconUsers, roles: BOTH, load: () => import('./users/users.tsx') },
  { path: 'users/$userId', load: () => import('./users/user.tsx') },
  { path: 'requests', label: 'Requests', icon: IconInbox, roles: ARRAY, load: () => import('./users/requests.tsx') },
];

const hardware: readonly Page[] = [
  {
    path: 'policies',
    label: 'Storage policies',
    icon: IconPool,
    roles: ARRAY,
    load: () => import('./policies/policies.tsx'),
  },
  { path: 'policies/$policyName', load: () => import('./policies/policy.tsx') },
  { path: 'drives', label: 'Drives', icon: IconDrive, roles: ARRAY, load: () => import('./drives/drives.tsx') },
  { path: 'drives/$driveName', load: () => import('./drives/drive.tsx') },
  {
    path: 'controllers',
    label: 'Controllers',
    icon: IconServer,
    roles: ARRAY,
    load: () => import('./controllers/controllers.tsx'),
  },
  {
    path: 'remote-endpoints',
    label: 'Remote endpoints',
    icon: IconLink,
    roles: ARRAY,
    load: () => import('./administration/remote-endpoints.tsx'),
  },
  { path: 'remote-endpoints/$endpointName', load: () => import('./administration/remote-endpoint.tsx') },
];

const watching: readonly Page[] = [
  { path: 'metering', label: 'Metering', icon: IconChart, roles: BOTH, load: () => import('./metering/metering.tsx') },
  { path: 'usage', label: 'Usage report', icon: IconBill, roles: BOTH, load: () => import('./usage/usage.tsx') },
  { path: 'events', label: 'Events', icon: IconBell, roles: ARRAY, load: () => import('./administration/events.tsx') },
  {
    path: 'access-log',
    label: 'Access log',
    icon: IconFile,
    roles: ARRAY,
    load: () => import('./administration/access-log.tsx'),
  },
];

const administration: readonly Page[] = [
  {
    path: 'settings',
    label: 'Settings',
    icon: IconGear,
    roles: ARRAY,
    load: () => import('./administration/settings.tsx'),
  },
  {
    path: 'webhooks',
    label: 'Webhooks',
    icon: IconTerminal,
    roles: ARRAY,
    load: () => import('./administration/webhooks.tsx'),
  },
  { path: 'profile', label: 'You', icon: IconUser, load: () => import('./administration/profile.tsx') },
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

export const objectsPages: readonly Page[] = [
  { path: '', label: 'Overview', icon: IconHome, load: () => import('./overview/overview.tsx') },
  { path: 'buckets', label: 'Buckets', icon: IconBucket, load: () => import('./buckets/list.tsx') },
  { path: 'buckets/$bucket', load: () => import('./buckets/browser.tsx') },
  { path: 'buckets/$bucket/settings', load: () => import('./buckets/settings.tsx') },
  ...below('Accounts', people),
  ...below('Storage', hardware),
  ...below('Monitoring', watching),
  ...below('Administration', administration),
];
