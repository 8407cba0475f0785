import { useQuery } from '@tanstack/react-query';
import { usePlaces } from '../api/places.tsx';
import { portal } from '../api/portal.ts';
import { readOptions } from '../api/queries.ts';
import { useSession } from './session.tsx';

/**
 * The portal's record of an array. A person may have an account on an array whose record only its owner sees:
 * `isHidden` says so, and the record is not asked for.
 */
export function useArrayRecord(id: number | undefined) {
  const place = usePlaces()[portal.arrays.get.api.name] ?? { base: '' };
  const isAdmin = useSession().role === 'admin';
  const own = useQuery({ ...readOptions(portal.arrays.list, place, {}), enabled: id !== undefined && !isAdmin });
  const isSeen = isAdmin || own.data?.data.some((array) => array.id === id);
  const reading = useQuery({
    ...readOptions(portal.arrays.get, place, { array_id: id ?? 0 }),
    enabled: id !== undefined && isSeen === true,
  });
  return { reading, isHidden: isSeen === false };
}

/**
 * The way back from the pages of an array: to its record, or, of an array that only its owner sees, to the person's
 * own accounts.
 */
export function useWayBack(id: number | undefined): { readonly label: string; readonly to: string } | undefined {
  const { isHidden } = useArrayRecord(id);
  if (id === undefined) return undefined;
  if (isHidden) return { label: 'Accounts', to: '/accounts' };
  return { label: 'Array details', to: `/arrays/${id}` };
}

/** The name of the array whose pages are open behind the portal; undefined until it is known, and elsewhere. */
export function useArrayName(id: number | undefined): string | undefined {
  const { data } = useArrayRecord(id).reading;
  return id === undefined ? undefined : data?.data.name;
}

/**
 * What the pages of an array are called: its name or, where only its owner sees that, the account the person has on it.
 * Undefined until it is known.
 */
export function useShownName(id: number | undefined): string | undefined {
  const place = usePlaces()[portal.arrays.getIdentity.api.name] ?? { base: '' };
  const { reading, isHidden } = useArrayRecord(id);
  const identity = useQuery({
    ...readOptions(portal.arrays.getIdentity, place, { array_id: id ?? 0 }),
    enabled: id !== undefined && isHidden,
  });
  if (id === undefined) return undefined;
  if (!isHidden) return reading.data?.data.name;
  const account = identity.data?.data.account_name;
  return typeof account === 'string' ? `Account ${account}` : undefined;
}
