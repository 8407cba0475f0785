/**
 * Memory that the main thread and the controllers share. It holds only counters, so that a request learns that something
 * changed without having to ask.
 */
const ACCOUNTS_MAX = 200_000;

export function createLimits(): SharedArrayBuffer {
  return new SharedArrayBuffer(ACCOUNTS_MAX * BigInt64Array.BYTES_PER_ELEMENT);
}

/** Accounts get a counter each in the order in which they come by; more than there are counters share them. */
export class LimitSlots {
  readonly #slots = new Map<string, number>();

  of(account: string): number {
    const known = this.#slots.get(account);
    if (known !== undefined) return known;
    const slot = this.#slots.size % ACCOUNTS_MAX;
    this.#slots.set(account, slot);
    return slot;
  }
}

const COUNT_MASK = 0xffff_ffffn;

/** Counts a change of the account at `slot`; false once its second has had `perSecond`. Exact over all threads. */
export function countChange(limits: BigInt64Array, slot: number, perSecond: number, nowMs: number): boolean {
  const second = BigInt(Math.floor(nowMs / 1000)) << 32n;
  for (;;) {
    const before = Atomics.load(limits, slot);
    const count = (before & ~COUNT_MASK) === second ? before & COUNT_MASK : 0n;
    if (count >= BigInt(perSecond)) return false;
    if (Atomics.compareExchange(limits, slot, before, second | (count + 1n)) === before) return true;
  }
}
