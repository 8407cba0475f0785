import { retryLater, type Clock } from '@granary/kernel';
import { addressKey } from '@granary/kernel/edge';

interface QuotaOptions {
  readonly clock: Clock;
  /** How often within the window. */
  readonly max: number;
  readonly windowMs: number;
}

const ENTRIES_MAX = 20_000;

/** Limits how often unauthenticated clients of one address may ask for something. */
export class Quota {
  readonly #options: QuotaOptions;
  readonly #entries = new Map<string, { count: number; until: number }>();

  constructor(options: QuotaOptions) {
    this.#options = options;
  }

  /** Counts one attempt for an address and a subject; refuses it above the limit, with the time to retry. */
  consume(ip: string, subject = ''): void {
    const key = `${addressKey(ip)} ${subject.toLowerCase()}`;
    const { clock, max, windowMs } = this.#options;
    const now = clock.now();
    const known = this.#entries.get(key);
    const entry = known && known.until > now ? known : { count: 0, until: now + windowMs };
    if (entry.count >= max) {
      const seconds = Math.ceil((entry.until - now) / 1000);
      throw retryLater('too_many_requests', seconds);
    }
    entry.count += 1;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const oldest = this.#entries.size > ENTRIES_MAX ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
