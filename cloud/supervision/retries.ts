import type { SupervisionLimits } from './limits.ts';

type RetryLimits = Pick<SupervisionLimits, 'backoffMs' | 'backoffMsMax' | 'failedStartsMax' | 'stableMs'>;

/**
 * Decides after each end of a process whether and when it is started again. An array that served once holds data that
 * users need: it is tried for as long as it is wanted. One that never served is given up after a few starts, so that
 * the user who ordered it learns why.
 */
export class Retries {
  readonly #limits: RetryLimits;
  #hasServed: boolean;
  #failures = 0;

  constructor(limits: RetryLimits, hasServed: boolean) {
    this.#limits = limits;
    this.#hasServed = hasServed;
  }

  /** Ends in a row, none of which came after a long time of serving. */
  get failures(): number {
    return this.#failures;
  }

  /** The pause before the next start, or undefined when there is none. `servedMs` is undefined if it never served. */
  afterEnd(servedMs: number | undefined): number | undefined {
    const { backoffMs, backoffMsMax, failedStartsMax, stableMs } = this.#limits;
    if (servedMs !== undefined) this.#hasServed = true;
    if (servedMs !== undefined && servedMs >= stableMs) this.#failures = 0;
    this.#failures += 1;
    if (!this.#hasServed && this.#failures >= failedStartsMax) return undefined;
    return Math.min(backoffMs * 2 ** (this.#failures - 1), backoffMsMax);
  }
}
