import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { array } from '../../api/array.ts';
import { orLastKnown } from '../../api/last-known.ts';
import { usePlace } from '../../api/places.tsx';
import { useRead } from '../../api/queries.ts';
import { send, type Place } from '../../api/send.ts';
import type { Volume } from '../records.ts';

/** What lists and pictures show of a volume. The whole record has a hundred fields; of 10,000 they would not fit. */
const FIELDS = [
  'name',
  'display_name',
  'cg_name',
  'pool_name',
  'pool_display_name',
  'status',
  'comment',
  'virtual_capacity',
  'allocated_capacity',
  'capacity_mode',
  'data_type',
  'access_type',
  'server_ext_names',
  'encryption',
  'has_snapshots',
  'has_mirror',
  'created_at',
] as const satisfies readonly (keyof Volume)[];

export type ListedVolume = Pick<Volume, (typeof FIELDS)[number]>;

/** Read in parts, so that no part holds the page up. */
const AT_A_TIME = 500;

async function readAll(place: Place): Promise<ListedVolume[]> {
  const all: ListedVolume[] = [];
  for (let start = 0; ; start += AT_A_TIME) {
    const { value } = await send(array.volumes.list, place, { start, limit: AT_A_TIME });
    const { volumes } = value as { volumes: Volume[] };
    all.push(...volumes.map(listed));
    if (volumes.length < AT_A_TIME) return all;
  }
}

function listed(volume: Volume): ListedVolume {
  return Object.fromEntries(FIELDS.map((name) => [name, volume[name]])) as ListedVolume;
}

/** All volumes and shares of the array. */
export function useVolumes({ enabled = true } = {}): UseQueryResult<ListedVolume[]> {
  const place = usePlace('array');
  const queryKey = [place.base, 'volumes', 'all'];
  return useQuery({
    queryKey,
    queryFn: ({ client }) =>
      orLastKnown(
        () => readAll(place),
        () => client.getQueryData<ListedVolume[]>(queryKey),
      ),
    enabled,
  });
}

/** What of an array decides on the actions of its volumes; undefined while it is not known. */
export interface ArrayHabits {
  /** Keeps deleted volumes for a while. */
  readonly hasBin: boolean | undefined;
  /** Was ordered with file lifecycle. */
  readonly hasLifecycle: boolean | undefined;
}

export function useArrayHabits(): ArrayHabits {
  const controllers = useRead(array.controllers.list, {}).data?.vcontrollers;
  return useMemo(
    () => ({
      hasBin: controllers?.some(({ recycle_bin: bin }) => bin === 'YES'),
      hasLifecycle: controllers?.some(({ file_lifecycle: lifecycle }) => lifecycle === 'YES'),
    }),
    [controllers],
  );
}
