import type { Db, Tx } from '@granary/kernel';

const DAY_MS = 86_400_000;
const DECIMALS = 9;

export type PricedItem = 'upload' | 'download' | `policy:${string}`;

export interface PriceChange {
  readonly item: PricedItem;
  /** Days since 1970, UTC. */
  readonly fromDay: number;
  readonly price: string;
}

/** A price holds for the day it is set on, whole, and for those after it: what is moved is counted by the day. */
export function recordPrice(tx: Tx, item: PricedItem, price: string | number, at: number): void {
  tx.run(
    `INSERT INTO price_changes VALUES (:item, :fromDay, :price)
     ON CONFLICT (item, from_day) DO UPDATE SET price = excluded.price`,
    { item, fromDay: Math.floor(at / DAY_MS), price: typeof price === 'number' ? price.toFixed(DECIMALS) : price },
  );
}

/** The oldest first. */
export function listPriceChanges(db: Db): PriceChange[] {
  return db.all('SELECT item, from_day AS fromDay, price FROM price_changes ORDER BY from_day');
}
