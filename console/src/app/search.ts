import type { FoundRecord } from '@granary/contract';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import type { Op } from '../api/operations.ts';
import { send, type Place } from '../api/send.ts';
import { service, type ServiceKind } from '../api/service.ts';
import type { Found } from './found.ts';
import { arrayPages } from '../array/pages.ts';
import { objectsPages } from '../objects/pages.ts';
import { useActions } from './palette-actions.ts';
import { ownPages, usePresent, type Present } from './present.ts';
import type { SearchedArray } from './arrays-searched.ts';
import { useArraysSearched } from './search-inside.ts';
import { useSession } from './session.tsx';
import type { Page } from './pages.ts';

const RESULTS_MAX = 20;
const TEXT_LENGTH_MAX = 128;
/** One that has not answered by then is said to be missing: the others are not waited with. */
const ANSWERING = { timeoutMs: 10_000 };

/** Where a search goes, and whose pages show what it finds. */
interface Searched {
  readonly kind: ServiceKind;
  readonly place: Place;
  readonly base: string;
  readonly pages: readonly Page[];
  /** Said of what it finds, where two services are searched. */
  readonly of: string;
}

interface Results {
  readonly found: readonly Found[];
  /** Services have not answered yet: of things, those of the text before are shown. */
  readonly isSearching: boolean;
  /** A service gave no answer: things of it may be missing. */
  readonly hasFailed: boolean;
  /** Arrays that serve, and whose contents are not searched from here. */
  readonly left: number;
}

/**
 * Pages and actions by their name at once; things by what the services find: inside an array its own first, then the
 * portal's; at the portal its own first, then what is in arrays.
 */
export function useSearchResults(text: string): Results {
  const present = usePresent();
  const { role } = useSession();
  const wanted = text.trim().toLowerCase();
  const own = present.arrayId === undefined ? [] : pagesFound(present.pages, wanted, present.base);
  const pages = pagesFound(ownPages(), wanted, '', role);
  const actions = useActions(present).filter(({ name }) => name.toLowerCase().includes(wanted));
  const isAtPortal = service.kind === 'portal' && present.arrayId === undefined;
  const inside = useArraysSearched(isAtPortal && isEnough(wanted));
  const asked = useThings(wanted, [...searchedFrom(present), ...inside.arrays.map(searchedInside)]);
  const found = wanted === '' ? [...actions, ...own, ...pages] : [...own, ...pages, ...actions, ...asked.things];
  return {
    found,
    isSearching: asked.isSearching || inside.isSearching,
    hasFailed: asked.hasFailed || inside.hasFailed,
    left: inside.left,
  };
}

function searchedFrom({ kind, base, pages, arrayId }: Present): Searched[] {
  const own: Searched = { kind: service.kind, place: { base: '' }, base: '', pages: ownPages(), of: '' };
  if (arrayId === undefined) return [own];
  const place = { base: `/via/${arrayId}` };
  return [
    { kind, place, base, pages, of: '' },
    { ...own, of: ' · portal' },
  ];
}

function searchedInside({ id, name, kind }: SearchedArray): Searched {
  const [branch, pages] = kind === 'objects' ? (['objects', objectsPages] as const) : (['block', arrayPages] as const);
  return { kind, place: { base: `/via/${id}` }, base: `/arrays/${id}/${branch}`, pages, of: ` · ${name}` };
}

/** One letter is in everything. */
function isEnough(text: string): boolean {
  return text.length > 1;
}

interface Things extends Omit<Results, 'found' | 'left'> {
  readonly things: readonly Found[];
}

function useThings(text: string, searched: readonly Searched[]): Things {
  const input = { q: text.slice(0, TEXT_LENGTH_MAX), limit: RESULTS_MAX };
  const results = useQueries({
    queries: searched.map(({ kind, place }) => ({
      queryKey: [place.base, 'search', kind, input.q],
      queryFn: async () => resultsIn((await send(await searchOf(kind), place, input, ANSWERING)).value),
      enabled: isEnough(text),
      // What has just been made is looked for next.
      staleTime: 0,
      retry: false,
      placeholderData: keepPreviousData,
    })),
  });
  if (!isEnough(text)) return { things: [], isSearching: false, hasFailed: false };
  const things = results.flatMap(({ data = [] }, index) => {
    const from = searched[index];
    return from ? data.map((thing) => thingFound(thing, from)) : [];
  });
  return {
    things,
    isSearching: results.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData),
    hasFailed: results.some(({ isError }) => isError),
  };
}

/** The interface of an array is loaded when one is searched. */
async function searchOf(kind: ServiceKind): Promise<Op> {
  if (kind === 'array') return (await import('../api/array.ts')).array.search.find;
  if (kind === 'objects') return (await import('../api/objects.ts')).objects.search.find;
  return (await import('../api/portal.ts')).portal.search.find;
}

/** Under the name that each dialect has for a list. */
function resultsIn(value: unknown): readonly FoundRecord[] {
  const { data, results } = value as { readonly data?: FoundRecord[]; readonly results?: FoundRecord[] };
  return data ?? results ?? [];
}

function pagesFound(pages: readonly Page[], wanted: string, base: string, role?: string): Found[] {
  return pages
    .filter(({ label, roles }) => label?.toLowerCase().includes(wanted) && (!role || !roles || roles.includes(role)))
    .map(({ path, label = '' }) => ({
      key: `page ${base}/${path}`,
      name: label,
      detail: base === '' ? 'Page' : 'Page of this array',
      to: path === '' ? base || '/' : `${base}/${path}`,
    }));
}

/** To its own page, or to the list it is in, filtered by its name. */
function thingFound({ kind, id, name, detail }: FoundRecord, { base, pages, of }: Searched): Found {
  const hasPage = pages.some(({ path }) => path.startsWith(`${kind}/$`));
  return {
    key: `${base}/${kind} ${id}`,
    name,
    isThing: true,
    detail: `${detail ?? kind}${of}`,
    ...(hasPage ? { to: `${base}/${kind}/${encodeURIComponent(id)}` } : { to: `${base}/${kind}`, search: { q: name } }),
  };
}
