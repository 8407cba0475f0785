import type { Page } from '../app/pages.ts';
import {
  IconBell,
  IconBill,
  IconBucket,
  IconCloud,
  IconGear,
  IconGrid,
  IconHome,
  IconInbox,
  IconNetwork,
  IconServer,
  IconStack,
  IconTag,
  IconTerminal,
  IconUsers,
} from '../parts/icons.tsx';

const ADMIN = ['admin'];
const STORAGE = 'Storage';
const SELLING = 'Offer';
const PEOPLE = 'People and money';
const SYSTEM = 'System';

export const portalPages: readonly Page[] = [
  { path: '', label: 'Overview', icon: IconHome, load: () => import('./overview.tsx') },
  { path: 'arrays', label: 'Arrays', icon: IconStack, section: STORAGE, load: () => import('./arrays/list.tsx') },
  { path: 'arrays/new', load: () => import('./arrays/order.tsx') },
  { path: 'arrays/$arrayId', load: () => import('./arrays/detail.tsx') },
  { path: 'accounts', label: 'Accounts', icon: IconBucket, section: STORAGE, load: () => import('./accounts.tsx') },
  { path: 'networks', label: 'Networks', icon: IconNetwork, section: STORAGE, load: () => import('./networks.tsx') },
  { path: 'requests', label: 'Requests', icon: IconInbox, section: PEOPLE, load: () => import('./requests.tsx') },
  { path: 'billing', label: 'Billing', icon: IconBill, section: PEOPLE, load: () => import('./billing.tsx') },
  {
    path: 'users',
    label: 'Users',
    icon: IconUsers,
    section: PEOPLE,
    roles: ADMIN,
    load: () => import('./users.tsx'),
  },
  { path: 'clouds', label: 'Clouds', icon: IconCloud, section: SELLING, load: () => import('./clouds.tsx') },
  { path: 'providers', label: 'Providers', icon: IconServer, section: SELLING, load: () => import('./providers.tsx') },
  { path: 'prices', label: 'Prices', icon: IconTag, section: SELLING, load: () => import('./prices/prices.tsx') },
  {
    path: 'events',
    label: 'Events',
    icon: IconBell,
    section: SYSTEM,
    roles: ADMIN,
    load: () => import('./events.tsx'),
  },
  {
    path: 'settings',
    label: 'Settings',
    icon: IconGear,
    section: SYSTEM,
    roles: ADMIN,
    load: () => import('./settings.tsx'),
  },
  {
    path: 'webhooks',
    label: 'Webhooks',
    icon: IconGrid,
    section: SYSTEM,
    roles: ADMIN,
    load: () => import('./webhooks.tsx'),
  },
  { path: 'more', label: 'Everything else', icon: IconTerminal, section: SYSTEM, load: () => import('./more.tsx') },
  { path: 'profile', load: () => import('./profile.tsx') },
];
