import { Locks } from '@granary/kernel';
import type { PoolCache } from '../engine/engine.ts';
import type { ArrayTools } from '../tools.ts';
import { GB } from '../units.ts';
import { listPools } from './repository.ts';
import type { Pool } from './pool.ts';

const PAGE_BYTES = 4096;
const HOUR_MS = 3_600_000;

/** The share of one pool in the array's cache, which is memory. */
export function cacheShare(cacheGb: number, pools: number): number {
  if (pools === 0) return 0;
  return Math.floor((cacheGb * GB) / pools / PAGE_BYTES) * PAGE_BYTES;
}

/** Divides the array's cache among the pools that use it, evenly, and publishes the result to the engine. */
export class PoolCaches {
  readonly #tools: ArrayTools;
  readonly #turns = new Locks();
  #published: ReadonlyMap<string, PoolCache> = new Map();

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  /** Only changes are sent to the engine: setting a cache empties it. */
  publish(): Promise<void> {
    return this.#turns.run('cache', async () => {
      const { store, engine, configuration } = this.#tools;
      const pools = store.read((db) => listPools(db)).filter(({ state }) => state === 'ready');
      const share = cacheShare(configuration().cacheGb, pools.filter(({ cache }) => cache).length);
      const wanted = new Map<string, PoolCache>(pools.map((pool) => [pool.name, cacheOf(pool, share)]));
      const published = new Map([...this.#published].filter(([name]) => wanted.has(name)));
      this.#published = published;
      // Those that give some up come first, so that there is never more in use than there is.
      for (const [name, cache] of [...wanted].toSorted(([, a], [, b]) => a.bytes - b.bytes)) {
        const before = published.get(name);
        if (before && isSame(before, cache)) continue;
        await engine.setPoolCache(name, cache);
        published.set(name, cache);
      }
    });
  }
}

function cacheOf(pool: Pool, share: number): PoolCache {
  return {
    bytes: pool.cache ? share : 0,
    keepsSnapshots: pool.cowCache,
    coolOffMs: pool.coolOffHours * HOUR_MS,
  };
}

function isSame(a: PoolCache, b: PoolCache): boolean {
  return a.bytes === b.bytes && a.keepsSnapshots === b.keepsSnapshots && a.coolOffMs === b.coolOffMs;
}
