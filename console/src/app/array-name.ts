import { ApiError } from '@granary/client/errors';
import { useQuery } from '@tanstack/react-query';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';

const NOT_FOUND = 404;

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === NOT_FOUND;
}

/**
 * The way back from the pages of an array: to its record, or, of an array that only its owner sees, to the person's
 * own accounts.
 */
export function useWayBack(id: number | undefined): { readonly label: string; readonly to: string } | undefined {
  const { error } = useRecord(id);
  if (id === undefined) return undefined;
  if (isNotFound(error)) return { label: 'Accounts', to: '/accounts' };
  return { label: 'All about this array', to: `/arrays/${id}` };
}

/** The name of the array whose pages are open behind the portal; undefined until it is known, and elsewhere. */
export function useArrayName(id: number | undefined): string | undefined {
  const { data } = useRecord(id);
  return id === undefined ? undefined : data?.data.name;
}

function useRecord(id: number | undefined) {
  const place = usePlaces()[portal.arrays.get.api.name] ?? { base: '' };
  return useQuery({
    ...readOptions(portal.arrays.get, place, { array_id: id ?? 0 }),
    enabled: id !== undefined,
  });
}
