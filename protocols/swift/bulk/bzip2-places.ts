/** One archive that is being unpacked. */
export interface Bzip2Place {
  /** Aborted when it has to make room. */
  readonly signal: AbortSignal;
  received(bytes: number): void;
  release(): void;
}

interface Holder {
  readonly account: string;
  readonly since: number;
  readonly displaced: AbortController;
  bytes: number;
}

interface PlaceOptions {
  readonly most: number;
  /** Of one account. */
  readonly mostOfAccount: number;
  readonly now: () => number;
}

/** Who is slower than this, after a while, makes room for others who come. */
const BYTES_PER_SECOND_MIN = 64 * 1024;
const GRACE_MS = 5_000;

/**
 * Archives that are unpacked at once: each is a process, so there are few. One that comes too slowly holds its place only
 * while no other needs it, and an account has half of the places at most.
 */
export class Bzip2Places {
  readonly #options: PlaceOptions;
  readonly #holders = new Set<Holder>();

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  /** Undefined when there is none. */
  acquire(account: string): Bzip2Place | undefined {
    const { most, mostOfAccount, now } = this.#options;
    const own = [...this.#holders].filter((holder) => holder.account === account);
    const isFull = own.length >= mostOfAccount || this.#holders.size >= most;
    // Within its share an account makes room itself.
    if (isFull && !this.#displace(own.length >= mostOfAccount ? own : [...this.#holders])) return undefined;
    const holder: Holder = { account, since: now(), displaced: new AbortController(), bytes: 0 };
    this.#holders.add(holder);
    return {
      signal: holder.displaced.signal,
      received: (bytes) => (holder.bytes += bytes),
      release: () => this.#holders.delete(holder),
    };
  }

  #displace(among: readonly Holder[]): boolean {
    const now = this.#options.now();
    const rateOf = ({ bytes, since }: Holder) => (bytes * 1000) / Math.max(1, now - since);
    const slow = among.filter((one) => now - one.since >= GRACE_MS && rateOf(one) < BYTES_PER_SECOND_MIN);
    const [slowest] = slow.toSorted((one, other) => rateOf(one) - rateOf(other));
    if (!slowest) return false;
    this.#holders.delete(slowest);
    slowest.displaced.abort();
    return true;
  }
}
