import { pricePeriods, type PriceHistory } from '../pricing/history.ts';
import { itemName } from '../pricing/items.ts';
import { centsOf, centsOfParts, chargeOf, type Shares } from './amount.ts';
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
  readonly arrays: readonly BilledArray[];
  readonly cents: bigint;
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

/** The exact sums of a bill, and the cents that are printed of them. */
export class Totals {
  readonly #byArray = new Map<BilledArray, Shares>();

  add({ array, amount }: Pick<BillLine, 'array' | 'amount'>): void {
    this.#byArray.set(array, (this.#byArray.get(array) ?? 0n) + amount);
  }

  /** The exact sum. */
  get amount(): Shares {
    return this.#sumOf([...this.#byArray.keys()]);
  }

  /** What is asked for with the whole bill. */
  get cents(): bigint {
    return this.accounts.reduce((sum, { cents }) => sum + cents, 0n);
  }

  get accounts(): Account[] {
    const groups = new Map<string, BilledArray[]>();
    for (const array of this.#byArray.keys()) {
      const key = JSON.stringify([array.owner, array.providerName]);
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(array);
    }
    const accounts = [...groups.values()].map((arrays) => {
      const [{ owner: username, providerName }] = arrays as [BilledArray];
      return { username, providerName, arrays, cents: centsOf(this.#sumOf(arrays)) };
    });
    return accounts.sort(
      (one, other) => compare(one.username, other.username) || compare(one.providerName, other.providerName),
    );
  }

  /** They add up to the cents of the accounts. */
  get arrays(): [BilledArray, bigint][] {
    const cents = new Map<BilledArray, bigint>();
    for (const { arrays, cents: whole } of this.accounts) {
      const parts = centsOfParts(
        arrays.map((array) => this.#sumOf([array])),
        whole,
      );
      for (const [index, array] of arrays.entries()) cents.set(array, parts[index] as bigint);
    }
    return [...this.#byArray.keys()].map((array) => [array, cents.get(array) as bigint]);
  }

  #sumOf(arrays: readonly BilledArray[]): Shares {
    return arrays.reduce((sum, array) => sum + (this.#byArray.get(array) ?? 0n), 0n);
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
