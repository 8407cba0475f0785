import { useQueries, useQuery } from '@tanstack/react-query';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';
import { arraysAsked, arraysKnown, type Inside } from './arrays-searched.ts';

/** The arrays that a search from the portal's own pages asks, too: what people look for is mostly in one of them. */
export function useArraysSearched(isWanted: boolean): Inside {
  const place = usePlaces()[portal.arrays.list.api.name] ?? { base: '' };
  const list = useQuery({ ...readOptions(portal.arrays.list, place, {}), enabled: isWanted });
  const { asked, left } = arraysAsked(isWanted ? (list.data?.data ?? []) : []);
  const identities = useQueries({
    queries: asked.map(({ id }) => readOptions(portal.arrays.getIdentity, place, { array_id: id })),
  });
  const known = arraysKnown(asked, identities);
  return {
    ...known,
    left,
    isSearching: isWanted && (list.isPending || known.isSearching),
    hasFailed: isWanted && (list.isError || known.hasFailed),
  };
}
