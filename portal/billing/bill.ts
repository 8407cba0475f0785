import { pricePeriods, type PriceHistory } from '../pricing/history.ts';
import { itemName } from '../pricing/items.ts';
import { chargeOf, type Shares } from './amount.ts';
import type { BilledArray } from '../arrays/repository.ts';
import type { MeteredItem, Span } from '../metering/repository.ts';

/** One item at one price without a break. */
export interface BillLine {
  readonly array: BilledArray;
  readonly item: string;
  readonly quantity: number;
  readonly from: number;
  readonly to: number;
  readonly price: string;
  readonly amount: Shares;
}

/** What one user owes for the arrays at one provider. */
export interface Account {
  readonly username: string;
  readonly providerName: string;
  readonly arrays: number;
  readonly amount: Shares;
}

/** The items of an array, cut to the span and split where their prices changed. */
export function* billLines(
  array: BilledArray,
  items: readonly MeteredItem[],
  prices: PriceHistory,
  span: Span,
): Generator<BillLine> {
  for (const item of items) {
    const { quantity } = item;
    const name = itemName(item);
    const from = Math.max(item.startedAt, span.from);
    const to = Math.min(item.endedAt ?? span.to, span.to);
    for (const period of pricePeriods(prices.get(name) ?? [], from, to)) {
      const amount = chargeOf(quantity, period.to - period.from, period.nanos);
      yield { array, item: name, quantity, from: period.from, to: period.to, price: period.price, amount };
    }
  }
}

/** The exact sums of a bill. */
export class Totals {
  readonly #byArray = new Map<BilledArray, Shares>();

  add({ array, amount }: BillLine): void {
    this.#byArray.set(array, (this.#byArray.get(array) ?? 0n) + amount);
  }

  get arrays(): [BilledArray, Shares][] {
    return [...this.#byArray];
  }

  get accounts(): Account[] {
    const accounts = new Map<string, Account>();
    for (const [{ owner: username, providerName }, amount] of this.#byArray) {
      const key = JSON.stringify([username, providerName]);
      const sum = accounts.get(key) ?? { username, providerName, arrays: 0, amount: 0n };
      accounts.set(key, { ...sum, arrays: sum.arrays + 1, amount: sum.amount + amount });
    }
    return [...accounts.values()].sort(
      (one, other) => compare(one.username, other.username) || compare(one.providerName, other.providerName),
    );
  }

  get amount(): Shares {
    return this.#byArray.values().reduce((sum, amount) => sum + amount, 0n);
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
