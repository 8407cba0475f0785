import type { Clock, Store } from '@granary/kernel';
import { nanosText, type Shares } from '../billing/amount.ts';
import { billedLines } from '../billing/service.ts';
import type { UserId } from '../ids.ts';
import type { Span } from '../metering/repository.ts';

/** Dollars. */
export interface ScopedSpend {
  readonly month: string;
  readonly lastMonth: string;
  readonly hour: string;
}

interface Known extends ScopedSpend {
  readonly at: number;
  readonly monthStart: number;
}

const HOUR_MS = 3_600_000;
/** A month is added up anew at most this often. */
const KEEP_MS = 60_000;
const KNOWN_MAX = 1_000;

/** What one user, or all of them, spend, by the meter and the price book that bills are made of. */
export class SpendByScope {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<UserId | null, Known>();

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  of(scope: UserId | null): ScopedSpend {
    const now = this.#clock.now();
    const monthStart = startOfMonth(now, 0);
    const known = this.#known.get(scope);
    const isOfMonth = known?.monthStart === monthStart;
    if (isOfMonth && now >= known.at && now - known.at < KEEP_MS) return known;
    const computed = {
      month: this.#sum({ from: monthStart, to: now }, scope),
      // The past does not change.
      lastMonth: isOfMonth ? known.lastMonth : this.#sum({ from: startOfMonth(now, -1), to: monthStart }, scope),
      hour: this.#sum({ from: now, to: now + HOUR_MS }, scope),
    };
    const [first] = this.#known.keys();
    if (this.#known.size >= KNOWN_MAX && first !== undefined) this.#known.delete(first);
    this.#known.set(scope, { ...computed, at: now, monthStart });
    return computed;
  }

  #sum(span: Span, scope: UserId | null): string {
    let sum: Shares = 0n;
    for (const { amount } of billedLines(this.#store, span, scope)) sum += amount;
    return nanosText(sum);
  }
}

function startOfMonth(now: number, months: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}
