import { useQuery } from '@tanstack/react-query';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';

/** The name of the array whose pages are open behind the portal; undefined until it is known, and elsewhere. */
export function useArrayName(id: number | undefined): string | undefined {
  const place = usePlaces()[portal.arrays.get.api.name] ?? { base: '' };
  const { data } = useQuery({
    ...readOptions(portal.arrays.get, place, { array_id: id ?? 0 }),
    enabled: id !== undefined,
  });
  return id === undefined ? undefined : data?.data.name;
}
