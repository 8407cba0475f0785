import type { Page } from '../app/pages.ts';
import { IconHome } from '../parts/icons.tsx';

export const objectsPages: readonly Page[] = [
  { path: '', label: 'Overview', icon: IconHome, load: () => import('./overview.tsx') },
];
