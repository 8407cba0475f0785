import type { Inventory } from '@granary/contract/cloud';
import { fail, type Db, type Tx } from '@granary/kernel';
import type { ProviderId } from '../ids.ts';
import type { PriceChange, PriceHistory } from './history.ts';
import { itemName, listPrices, type ItemPrice } from './items.ts';
import { isPrice, priceNanos, samePrice } from './price.ts';
import {
  deletePricesFrom,
  findPriceAt,
  insertPrice,
  listAllPrices,
  listPricesBefore,
  nextPriceTime,
} from './repository.ts';

/** Sets what an item costs from a time on, now or later; tells whether that changed anything. */
export function setPrice(tx: Tx, providerId: ProviderId, item: ItemPrice, from: number): boolean {
  const isPlanned = nextPriceTime(tx, providerId, item, from) !== undefined;
  const present = findPriceAt(tx, providerId, item, from);
  if (!isPlanned && present && samePrice(present.price, item.price)) return false;
  // What was planned after it is dropped. Of two changes in one millisecond the later wins; so it does when the machine's
  // clock was set back between them.
  deletePricesFrom(tx, providerId, item, from);
  const before = findPriceAt(tx, providerId, item, from);
  if (!before || !samePrice(before.price, item.price)) insertPrice(tx, providerId, item, from);
  return true;
}

/**
 * Gives a provider the cloud's list price for everything it has no price for yet: when the provider is created, and
 * when its cloud is synced and has something new. A price the operator set is never touched.
 */
export function seedPrices(tx: Tx, providerId: ProviderId, inventory: Inventory, now: number): void {
  const priced = new Set(listAllPrices(tx, providerId).map(itemName));
  for (const item of listPrices(inventory)) {
    if (priced.has(itemName(item))) continue;
    if (!isPrice(item.price)) {
      throw fail('list_price_invalid', { item: itemName(item), price: item.price.slice(0, 40) });
    }
    insertPrice(tx, providerId, item, now);
    priced.add(itemName(item));
  }
}

/** What the only item of a kind costs an hour now. */
export function priceOf(db: Db, providerId: ProviderId, kind: 'public_objs', now: number): string {
  return findPriceAt(db, providerId, { kind, key: kind }, now)?.price ?? '0';
}

/** Until when that holds; undefined without a planned change. */
export function priceHoldsUntil(db: Db, providerId: ProviderId, kind: 'public_objs', now: number): number | undefined {
  return nextPriceTime(db, providerId, { kind, key: kind }, now);
}

/** Every price change of a provider before a time: what bills are worked out from. */
export function priceHistory(db: Db, providerId: ProviderId, before: number): PriceHistory {
  const history = new Map<string, PriceChange[]>();
  for (const stored of listPricesBefore(db, providerId, before)) {
    const { price, effectiveFrom } = stored;
    const name = itemName(stored);
    const changes = history.get(name) ?? [];
    if (changes.length === 0) history.set(name, changes);
    changes.push({ effectiveFrom, price, nanos: priceNanos(price) });
  }
  return history;
}
