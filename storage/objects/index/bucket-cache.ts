import type { Epoch } from '../epoch.ts';
import type { Bucket } from '../records.ts';

const KNOWN_MAX = 10_000;

/** How much is in a bucket. */
export type BucketCounters = Pick<Bucket, 'objects' | 'bytes' | 'noncurrent'>;

/**
 * Buckets that a thread has read, for as long as none changes: every request needs one, and to ask the index was a
 * twelfth of what a small one costs its thread. Counters of a bucket change all the time; they are read when they are used.
 */
export class BucketCache {
  readonly #epoch: Epoch;
  readonly #known = new Map<string, Bucket>();
  #seen = 0;

  constructor(epoch: Epoch) {
    this.#epoch = epoch;
  }

  /** `read` is asked for what is not known; `count` whenever the counters of a bucket are looked at. */
  get(
    account: string,
    name: string,
    read: () => Bucket | undefined,
    count: (id: number) => BucketCounters,
  ): Bucket | undefined {
    // Before anything is read: what changes meanwhile moves the count on.
    this.#dropOutdated();
    const key = `${account}/${name}`;
    const known = this.#known.get(key);
    if (known) return known;
    const bucket = read();
    if (!bucket) return undefined;
    const kept = new KnownBucket(bucket, count);
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(key, kept);
    return kept;
  }

  #dropOutdated(): void {
    const { count } = this.#epoch;
    if (count === this.#seen) return;
    this.#seen = count;
    this.#known.clear();
  }
}

class KnownBucket implements Bucket {
  readonly id: number;
  readonly account: string;
  readonly name: string;
  readonly policy: number;
  readonly createdAt: number;
  readonly versioning: Bucket['versioning'];
  readonly lockable: boolean;
  readonly settings: Bucket['settings'];
  readonly #count: (id: number) => BucketCounters;

  constructor(bucket: Bucket, count: (id: number) => BucketCounters) {
    this.id = bucket.id;
    this.account = bucket.account;
    this.name = bucket.name;
    this.policy = bucket.policy;
    this.createdAt = bucket.createdAt;
    this.versioning = bucket.versioning;
    this.lockable = bucket.lockable;
    this.settings = bucket.settings;
    this.#count = count;
  }

  get objects(): number {
    return this.#count(this.id).objects;
  }

  get bytes(): number {
    return this.#count(this.id).bytes;
  }

  get noncurrent(): number {
    return this.#count(this.id).noncurrent;
  }
}
