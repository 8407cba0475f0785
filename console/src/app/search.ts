import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { findOperation } from '../api/operations.ts';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { keyOf } from '../api/queries.ts';
import { send } from '../api/send.ts';
import { service } from '../api/service.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { portalPages } from '../portal/pages.ts';
import { useBase } from './base.ts';
import { useSession } from './session.tsx';
import type { Page } from './pages.ts';

export interface Found {
  readonly key: string;
  readonly name: string;
  readonly detail: string;
  readonly to: string;
}

/** A result of `GET /search`. */
export interface SearchResult {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly detail: string | null;
}

const PAGES = { portal: portalPages, array: arrayPages, objects: objectsPages } as const;
const RESULTS_MAX = 20;

/** Pages by their name at once; things by what the service finds. */
export function useSearchResults(text: string): Found[] {
  const base = useBase();
  const { role } = useSession();
  const wanted = text.trim().toLowerCase();
  const pages = PAGES[service.kind]
    .filter(({ label, roles }) => label?.toLowerCase().includes(wanted) && (!roles || roles.includes(role)))
    .map((page) => pageFound(page, ''));
  const things = useThings(wanted);
  return [...pages, ...things.map((thing) => thingFound(thing, base))];
}

function useThings(text: string): readonly SearchResult[] {
  const place = usePlaces()[service.kind] ?? { base: '' };
  const op = findOperation(portal.arrays.list.api, 'search', 'find');
  const query = useQuery({
    queryKey: op ? keyOf(op, place, { q: text }) : ['search'],
    queryFn: async () => {
      if (!op) return [];
      const { value } = await send(op, place, { q: text, limit: RESULTS_MAX });
      return (value as { data: SearchResult[] }).data;
    },
    enabled: op !== undefined && text.length > 1,
    placeholderData: keepPreviousData,
  });
  return text.length > 1 ? (query.data ?? []) : [];
}

function pageFound({ path, label = '' }: Page, base: string): Found {
  return { key: `page ${path}`, name: label, detail: 'Page', to: `${base}/${path}` };
}

function thingFound({ kind, id, name, detail }: SearchResult, base: string): Found {
  return { key: `${kind} ${id}`, name, detail: detail ?? kind, to: `${base}/${kind}/${encodeURIComponent(id)}` };
}
