import type { Clock, Store } from '@granary/kernel';
import { nanosText, type Shares } from '../billing/amount.ts';
import { billedLines } from '../billing/lines.ts';
import { takeInTurns } from '../billing/turns.ts';
import type { UserId } from '../ids.ts';
import type { Span } from '../metering/repository.ts';

/** Dollars. */
export interface ScopedSpend {
  readonly month: string;
  readonly lastMonth: string;
  readonly hour: string;
}

interface Known {
  readonly at: number;
  readonly monthStart: number;
  readonly spend: Promise<ScopedSpend>;
  readonly lastMonth: LastMonth;
}

interface LastMonth {
  readonly at: number;
  readonly sum: Promise<string>;
}

const HOUR_MS = 3_600_000;
/** A month is added up anew at most this often. */
const KEEP_MS = 60_000;
/** The last one may still change: of an outage at its end, or of encryption, the portal may hear late. */
const KEEP_LAST_MS = HOUR_MS;
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

  /** Those who ask while it is added up share the answer. */
  of(scope: UserId | null): Promise<ScopedSpend> {
    const now = this.#clock.now();
    const monthStart = startOfMonth(now, 0);
    const known = this.#known.get(scope);
    const isOfMonth = known?.monthStart === monthStart;
    if (isOfMonth && isFresh(known.at, now, KEEP_MS)) return known.spend;
    const hasLast = isOfMonth && isFresh(known.lastMonth.at, now, KEEP_LAST_MS);
    const lastSpan = { from: startOfMonth(now, -1), to: monthStart };
    const lastMonth = hasLast ? known.lastMonth : { at: now, sum: this.#sum(lastSpan, scope) };
    const spend = this.#compute(scope, { monthStart, now }, lastMonth.sum);
    const [first] = this.#known.keys();
    if (this.#known.size >= KNOWN_MAX && first !== undefined) this.#known.delete(first);
    this.#known.set(scope, { at: now, monthStart, spend, lastMonth });
    spend.catch(() => this.#known.delete(scope));
    return spend;
  }

  async #compute(
    scope: UserId | null,
    { monthStart, now }: { readonly monthStart: number; readonly now: number },
    lastMonth: Promise<string>,
  ): Promise<ScopedSpend> {
    return {
      lastMonth: await lastMonth,
      month: await this.#sum({ from: monthStart, to: now }, scope),
      hour: await this.#sum({ from: now, to: now + HOUR_MS }, scope),
    };
  }

  async #sum(span: Span, scope: UserId | null): Promise<string> {
    let sum: Shares = 0n;
    await takeInTurns(billedLines(this.#store, span, scope), ({ amount }) => {
      sum += amount;
    });
    return nanosText(sum);
  }
}

function isFresh(at: number, now: number, ms: number): boolean {
  return now >= at && now - at < ms;
}

function startOfMonth(now: number, months: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}
