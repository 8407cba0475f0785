import type { ArraySpec } from '@granary/contract/cloud';
import type { ArrayState } from '@granary/contract/portal';
import type { Tx } from '@granary/kernel';
import { itemName, OBJECT_STORAGE_KEY } from '../pricing/items.ts';
import { closeItem, deleteItem, listOpenItems, newestMoments, openItem, type Quantity } from './repository.ts';

/** What of an array its bill depends on. */
export interface MeteredArray {
  readonly id: number;
  readonly status: ArrayState;
  /** The cloud has given it drives. */
  readonly placed: boolean;
  readonly hasPublicIp: boolean;
  /** Object storage. */
  readonly hasPublicService?: boolean;
  readonly proxies?: number;
  /** It has encrypted volumes, or encrypts the objects that are written. */
  readonly isEncrypted?: boolean;
  /** Deleted, or about to be, and can be undeleted. */
  readonly retained: boolean;
  readonly spec: Pick<ArraySpec, 'engine' | 'app_engine' | 'extra_cache_gb' | 'drives'>;
}

/** All of it while it runs; what it holds on to while it does not; nothing before it is there and when it goes for good. */
const METERED: Readonly<Record<ArrayState, 'all' | 'held' | 'held_if_placed' | 'held_if_retained' | 'nothing'>> = {
  creating: 'nothing',
  created: 'all',
  starting: 'held',
  hibernating: 'all',
  hibernated: 'held',
  restoring: 'held',
  deleting: 'held_if_retained',
  deleted: 'held_if_retained',
  failed: 'held_if_placed',
};

export function meteredItems(array: MeteredArray): Quantity[] {
  const extent = METERED[array.status];
  if (extent === 'nothing' || (extent === 'held_if_placed' && !array.placed)) return [];
  if (extent === 'held_if_retained' && !array.retained) return [];
  return extent === 'all' ? [...computing(array), ...held(array)] : held(array);
}

/**
 * Makes the open items of an array equal to what it has now. Called in the transaction of every change to an array,
 * and as often as one likes: what has not changed runs on untouched.
 */
export function syncMeter(tx: Tx, array: MeteredArray, clockNow: number): void {
  // A clock that was set back must neither bill a moment twice nor forget one. Of each kind, because some are heard of
  // later than others: what one kind did a moment ago does not move the times of the others.
  const moments = newestMoments(tx, array.id);
  const nowOf = ({ kind }: Quantity) => Math.max(clockNow, moments.get(kind) ?? 0);
  const wanted = new Map(meteredItems(array).map((item) => [itemName(item), item]));
  for (const open of listOpenItems(tx, array.id)) {
    const name = itemName(open);
    const now = nowOf(open);
    if (wanted.get(name)?.quantity === open.quantity) wanted.delete(name);
    // Nothing exists for no time at all: an item that ends in the millisecond it began leaves no trace.
    else if (open.startedAt >= now) deleteItem(tx, open.id);
    else closeItem(tx, open.id, now);
  }
  for (const item of wanted.values()) openItem(tx, array.id, item, nowOf(item));
}

function computing({ spec, proxies = 0, hasPublicService = false, isEncrypted = false }: MeteredArray): Quantity[] {
  const items: Quantity[] = [];
  if (spec.engine !== null) items.push({ kind: 'engine', key: spec.engine, quantity: 1 });
  if (isEncrypted) items.push({ kind: 'encryption', key: spec.engine ?? OBJECT_STORAGE_KEY, quantity: 1 });
  if (spec.app_engine !== null) items.push({ kind: 'app_engine', key: spec.app_engine, quantity: 1 });
  if (spec.extra_cache_gb > 0) items.push({ kind: 'cache_gb', key: 'cache_gb', quantity: spec.extra_cache_gb });
  if (proxies > 0) items.push({ kind: 'proxy', key: 'proxy', quantity: proxies });
  if (hasPublicService) items.push({ kind: 'public_objs', key: 'public_objs', quantity: 1 });
  return items;
}

function held({ spec, hasPublicIp }: MeteredArray): Quantity[] {
  const items: Quantity[] = Object.entries(spec.drives)
    .filter(([, quantity]) => quantity > 0)
    .map(([key, quantity]) => ({ kind: 'drive', key, quantity }));
  if (hasPublicIp) items.push({ kind: 'public_ip', key: 'public_ip', quantity: 1 });
  return items;
}
