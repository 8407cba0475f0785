import { useMemo } from 'react';
import { portal } from '../api/portal.ts';
import { useRead } from '../api/queries.ts';
import { itemNames, type NameOf } from './item-names.ts';

/** The names of what the clouds have that the person sees. */
export function useItemNames(): NameOf {
  const clouds = useRead(portal.clouds.list, {}).data?.data;
  return useMemo(() => itemNames(clouds ?? []), [clouds]);
}
