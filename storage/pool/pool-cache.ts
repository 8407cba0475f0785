import { type CacheStatistics, ReadCache } from './read-cache.ts';

export interface CacheSettings {
  /** 0 turns it off. */
  readonly bytes: number;
  /** Whether blocks read through snapshots and clones are cached. Default: true. */
  readonly keepsForeign?: boolean;
  /** Blocks that were not read for this time are dropped. Default: never. */
  readonly coolOffMs?: number;
}

/** The resolution of the time since the last read. */
const ROUNDS = 8;
const INTERVAL_MS_MAX = 2 ** 31 - 1;

/** The read cache of a pool, and its statistics since the pool was opened, across changes of its size. */
export class PoolCache {
  current: ReadCache | undefined;
  #bytes = 0;
  #before = { hits: 0, misses: 0 };
  #cooling: NodeJS.Timeout | undefined;

  set({ bytes, keepsForeign = true, coolOffMs = 0 }: CacheSettings): void {
    if (bytes !== this.#bytes) this.#replace(bytes);
    const { current } = this;
    if (current) current.keepsForeign = keepsForeign;
    clearInterval(this.#cooling);
    this.#cooling = undefined;
    if (!current || coolOffMs <= 0) return;
    this.#cooling = setInterval(
      () => current.cool(ROUNDS),
      Math.min(INTERVAL_MS_MAX, Math.max(1, coolOffMs / ROUNDS)),
    ).unref();
  }

  statistics(): CacheStatistics {
    const { hits, misses, ...now } = this.current?.statistics() ?? nothing;
    return { ...now, hits: this.#before.hits + hits, misses: this.#before.misses + misses };
  }

  close(): void {
    clearInterval(this.#cooling);
  }

  #replace(bytes: number): void {
    const { hits, misses } = this.statistics();
    this.#before = { hits, misses };
    this.#bytes = bytes;
    this.current = bytes > 0 ? new ReadCache(bytes) : undefined;
  }
}

const nothing: CacheStatistics = { capacityBytes: 0, usedBytes: 0, hits: 0, misses: 0 };
