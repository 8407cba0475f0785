import { service, type ServiceKind } from '../api/service.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { portalPages } from '../portal/pages.ts';
import { useOpenArray } from './open-array.ts';
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
  const open = useOpenArray();
  if (!open) return { kind: service.kind, base: '', pages: ownPages(), arrayId: undefined };
  const kind = open.branch === 'block' ? 'array' : 'objects';
  return { kind, base: `/arrays/${open.id}/${open.branch}`, pages: PAGES[kind], arrayId: open.id };
}
