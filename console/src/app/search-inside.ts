import { useQueries, useQuery } from '@tanstack/react-query';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';
import type { ServiceKind } from '../api/service.ts';

/** A browser has few connections to a service: the others are searched from their own pages. */
export const ARRAYS_SEARCHED_MAX = 8;

/** An array whose contents the person may see. */
export interface SearchedArray {
  readonly id: number;
  readonly name: string;
  readonly kind: Exclude<ServiceKind, 'portal'>;
}

interface Inside {
  readonly arrays: readonly SearchedArray[];
  /** Arrays that serve, and are not searched. */
  readonly left: number;
}

/** The arrays that a search from the portal's own pages asks, too: what people look for is mostly in one of them. */
export function useArraysSearched(isWanted: boolean): Inside {
  const place = usePlaces()[portal.arrays.list.api.name] ?? { base: '' };
  const list = useQuery({ ...readOptions(portal.arrays.list, place, {}), enabled: isWanted });
  const serving = (list.data?.data ?? []).filter(({ status }) => status === 'created');
  const asked = isWanted ? serving.slice(0, ARRAYS_SEARCHED_MAX) : [];
  const identities = useQueries({
    queries: asked.map(({ id }) => readOptions(portal.arrays.getIdentity, place, { array_id: id })),
  });
  // One where the person has no user would refuse.
  const known = asked.filter((_, index) => identities[index]?.data?.data.role);
  return {
    arrays: known.map(({ id, name, product }) => ({
      id,
      name,
      kind: product === 'object_storage' ? 'objects' : 'array',
    })),
    left: isWanted ? serving.length - asked.length : 0,
  };
}
