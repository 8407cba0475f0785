import type { Clock, Store } from '@granary/kernel';
import { nanosText, type Shares } from '../billing/amount.ts';
import { billedLines } from '../billing/lines.ts';
import { takeInTurns } from '../billing/turns.ts';
import type { Span } from '../metering/repository.ts';

export interface Spend {
  readonly provider: string;
  /** Dollars an hour, of what exists now at the prices of now. */
  readonly rate: number;
  /** Dollars since the month began, UTC. */
  readonly month: number;
}

const HOUR_MS = 3_600_000;
/** The month is added up anew at most this often. */
const KEEP_MS = 60_000;

/** What all users together pay each provider, by the meter and the price book that bills are made of. */
export class SpendReport {
  readonly #store: Store;
  readonly #clock: Clock;
  #known: { readonly at: number; readonly spend: Promise<readonly Spend[]> } | undefined;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Two figures are read at once: the second waits for what the first began to add up. */
  current(): Promise<readonly Spend[]> {
    const now = this.#clock.now();
    const known = this.#known;
    if (known && now >= known.at && now - known.at < KEEP_MS && sameMonth(now, known.at)) return known.spend;
    const spend = this.#compute(now);
    const current = { at: now, spend };
    this.#known = current;
    spend.catch(() => {
      if (this.#known === current) this.#known = undefined;
    });
    return spend;
  }

  async #compute(now: number): Promise<Spend[]> {
    const month = await this.#byProvider({ from: monthStart(now), to: now });
    const hour = await this.#byProvider({ from: now, to: now + HOUR_MS });
    const providers = new Set([...month.keys(), ...hour.keys()]);
    return [...providers].sort().map((provider) => ({
      provider,
      rate: dollars(hour.get(provider)),
      month: dollars(month.get(provider)),
    }));
  }

  async #byProvider(span: Span): Promise<Map<string, Shares>> {
    const sums = new Map<string, Shares>();
    await takeInTurns(billedLines(this.#store, span, null), ({ array, amount }) => {
      sums.set(array.providerName, (sums.get(array.providerName) ?? 0n) + amount);
    });
    return sums;
  }
}

/** Exact to the billionth, as far as a floating-point number goes: Prometheus knows no other. */
function dollars(amount: Shares = 0n): number {
  return Number(nanosText(amount));
}

function monthStart(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

function sameMonth(one: number, other: number): boolean {
  return monthStart(one) === monthStart(other);
}
