import type { Page } from '../app/pages.ts';
import { IconBucket, IconHome } from '../parts/icons.tsx';

export const objectsPages: readonly Page[] = [
  { path: '', label: 'Overview', icon: IconHome, load: () => import('./overview.tsx') },
  { path: 'buckets', label: 'Buckets', icon: IconBucket, load: () => import('./buckets/list.tsx') },
  { path: 'buckets/$bucket', load: () => import('./buckets/browser.tsx') },
  { path: 'buckets/$bucket/settings', load: () => import('./buckets/settings.tsx') },
];
