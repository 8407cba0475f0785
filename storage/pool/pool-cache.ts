import { type CacheStatistics, ReadCache } from './read-cache.ts';

export interface CacheSettings {
  /** 0 turns it off. */
  readonly bytes: number;
  /** Whether blocks read through snapshots and clones are cached. Default: true. */
  readonly keepsForeign?: boolean;
  /** Blocks that were not read for this time are dropped. Default: never. */
  readonly coolOffMs?: number;
}

const noCounts = { hits: 0, misses: 0, writeHits: 0, writeMisses: 0 };

/** The resolution of the time since the last read. */
const ROUNDS = 8;
const INTERVAL_MS_MAX = 2 ** 31 - 1;

/** The read cache of a pool, and its statistics since the pool was opened, across changes of its size. */
export class PoolCache {
  current: ReadCache | undefined;
  #bytes = 0;
  #before = noCounts;
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
    const before = this.#before;
    const now = this.current?.statistics() ?? nothing;
    return {
      ...now,
      hits: before.hits + now.hits,
      misses: before.misses + now.misses,
      writeHits: before.writeHits + now.writeHits,
      writeMisses: before.writeMisses + now.writeMisses,
    };
  }

  close(): void {
    clearInterval(this.#cooling);
  }

  #replace(bytes: number): void {
    const { hits, misses, writeHits, writeMisses } = this.statistics();
    this.#before = { hits, misses, writeHits, writeMisses };
    this.#bytes = bytes;
    this.current = bytes > 0 ? new ReadCache(bytes) : undefined;
  }
}

const nothing: CacheStatistics = { capacityBytes: 0, usedBytes: 0, ...noCounts };
