import type { Nanos } from './price.ts';

export interface PriceChange {
  readonly effectiveFrom: number;
  readonly price: string;
  readonly nanos: Nanos;
}

/** The changes of each item of a provider, by the item's name, oldest first. */
export type PriceHistory = ReadonlyMap<string, readonly PriceChange[]>;

export interface PricePeriod {
  readonly from: number;
  readonly to: number;
  readonly price: string;
  readonly nanos: Nanos;
}

/** What has no price yet costs nothing: a price holds from its publication on. */
const FREE = { price: '0', nanos: 0n };

/** Splits [from, to) at the moments the price changed. */
export function* pricePeriods(changes: readonly PriceChange[], from: number, to: number): Generator<PricePeriod> {
  let start = from;
  for (let index = changesUntil(changes, from); start < to; index++) {
    const end = Math.min(to, changes[index]?.effectiveFrom ?? to);
    const { price, nanos } = changes[index - 1] ?? FREE;
    yield { from: start, to: end, price, nanos };
    start = end;
  }
}

/** How many of the changes have happened by then. */
function changesUntil(changes: readonly PriceChange[], time: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle] as PriceChange).effectiveFrom <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
