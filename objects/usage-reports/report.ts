import type { StoredUsage } from '@granary/storage/object-store';
import { amountShown, movedShares, unitsShown, type Charge, type Nanos, type Shares } from './amount.ts';
import type { Transferred } from './repository.ts';

export interface Prices {
  readonly upload: Nanos;
  readonly download: Nanos;
  readonly policies: readonly PricedPolicy[];
}

export interface PricedPolicy {
  readonly index: number;
  readonly name: string;
  /** For a GB stored for a month. */
  readonly monthPrice: Nanos;
}

/** What an account used over the time of a report. */
export interface AccountUse extends Transferred {
  /** By the index of the policy. */
  readonly stored: ReadonlyMap<number, Shares>;
  /** At the end of the time. */
  readonly objects: number;
  readonly buckets: number;
}

interface Item {
  readonly category: string;
  readonly subcategory: string;
  readonly type: string;
  readonly unit: string;
  /** Shares of GB or of GB-months; a plain number where things are counted. */
  readonly quantity: Shares | number;
  readonly charge: Charge;
}

export interface Bill {
  readonly items: readonly Item[];
  readonly total: Charge;
}

const TOTAL = 'total';

/**
 * The items of one account. In detail: what came in and what went out, and what was stored by policy. In short: one item
 * for each kind of thing. Objects and containers are counted at the end of the time and cost nothing.
 */
export function billOf(use: AccountUse, prices: Prices, type: 'summary' | 'detailed'): Bill {
  const moved = [movedItem('upload', use.bytesIn, prices.upload), movedItem('download', use.bytesOut, prices.download)];
  const stored = storedItems(use, prices);
  const items = [
    ...(type === 'detailed' ? moved : [summed(moved, movedItem(TOTAL, 0, 0n))]),
    counted('objects', 'object_count', use.objects),
    counted('containers', 'container_count', use.buckets),
    ...(type === 'detailed' ? stored : [summed(stored, storedItem(TOTAL, 0n, 0n))]),
  ];
  return { items, total: items.reduce((sum, { charge }) => sum + charge, 0n) };
}

/** The bills of parts of a time as one: what was used and charged adds up, and what is counted is that of the end. */
export function joined(bills: readonly Bill[]): Bill {
  const items = new Map<string, Item>();
  for (const item of bills.flatMap((bill) => bill.items)) {
    const name = `${item.category}:${item.subcategory}:${item.type}`;
    const before = items.get(name);
    items.set(name, before && typeof item.quantity === 'bigint' ? added(before, item) : item);
  }
  return { items: [...items.values()], total: bills.reduce((sum, { total }) => sum + total, 0n) };
}

function added(one: Item, other: Item): Item {
  return {
    ...other,
    quantity: BigInt(one.quantity) + BigInt(other.quantity),
    charge: one.charge + other.charge,
  };
}

export function itemView({ quantity, charge, ...item }: Item) {
  const billed_units = typeof quantity === 'number' ? quantity : unitsShown(quantity);
  return { ...item, billed_amount: amountShown(charge), billed_units };
}

/** Adds up what was stored by policy, with the counts of the last of several times. */
export function countsOf(stored: readonly StoredUsage[]): { objects: number; buckets: number } {
  return stored.reduce(
    (sum, { objects, buckets }) => ({ objects: sum.objects + objects, buckets: sum.buckets + buckets }),
    { objects: 0, buckets: 0 },
  );
}

function storedItems({ stored }: AccountUse, { policies }: Prices): Item[] {
  const known = policies.map(({ index, name, monthPrice }) => storedItem(name, stored.get(index) ?? 0n, monthPrice));
  // A removed policy is still shown with what was stored under it; its price is no longer known.
  const gone = [...stored].filter(([index, shares]) => shares > 0n && !policies.some((one) => one.index === index));
  return [...known, ...gone.map(([index, shares]) => storedItem(`policy ${index}`, shares, 0n))];
}

function movedItem(subcategory: string, bytes: number, price: Nanos): Item {
  const quantity = movedShares(bytes);
  return {
    category: 'data_transfer',
    subcategory,
    type: 'streaming-bytes',
    unit: 'GB',
    quantity,
    charge: quantity * price,
  };
}

function storedItem(subcategory: string, quantity: Shares, price: Nanos): Item {
  const charge = quantity * price;
  return { category: 'capacity', subcategory, type: 'used_capacity', unit: 'GBMONTH', quantity, charge };
}

function counted(category: string, type: string, quantity: number): Item {
  return { category, subcategory: TOTAL, type, unit: 'count', quantity, charge: 0n };
}

function summed(items: readonly Item[], empty: Item): Item {
  return items.reduce(
    (sum, { quantity, charge }) => ({
      ...sum,
      quantity: BigInt(sum.quantity) + BigInt(quantity),
      charge: sum.charge + charge,
    }),
    empty,
  );
}
