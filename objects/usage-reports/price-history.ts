import type { PriceChange, PricedItem } from '../prices/repository.ts';
import type { Period } from './period.ts';

const DAY_MS = 86_400_000;

/** The parts of a period in which no price changes, in their order. */
export function partsOf({ from, to }: Period, changes: readonly PriceChange[]): Period[] {
  const moments = changes.map(({ fromDay }) => fromDay * DAY_MS).filter((at) => at > from && at < to);
  const starts = [from, ...[...new Set(moments)].sort((one, other) => one - other)];
  return starts.map((start, index) => ({ from: start, to: starts[index + 1] ?? to }));
}

/** What an item cost at a moment; what had no price yet cost nothing. */
export function priceAt(changes: readonly PriceChange[], item: PricedItem, at: number): string {
  const day = Math.floor(at / DAY_MS);
  return changes.findLast((one) => one.item === item && one.fromDay <= day)?.price ?? '0';
}
