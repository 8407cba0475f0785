import type { Readings } from '../readings/readings.ts';
import type { CacheLookups, CacheMeasurement } from './points.ts';

type Counts = CacheLookups & Pick<CacheMeasurement, 'hits' | 'misses'>;

const nothing: Counts = {
  hits: 0,
  misses: 0,
  dataWriteHits: 0,
  dataWriteMisses: 0,
  metaReadHits: 0,
  metaReadMisses: 0,
  metaWriteHits: 0,
  metaWriteMisses: 0,
};

/** How full the caches of all pools and RAID groups are, and how they were used since the last reading. */
export class CacheUse {
  #last = nothing;

  since(readings: Readings) {
    const data = { usedBytes: 0, capacityBytes: 0 };
    const metadata = { dirtyBytes: 0, cleanBytes: 0, capacityBytes: 0 };
    const now: { -readonly [K in keyof Counts]: number } = { ...nothing };
    for (const { cache } of readings.pools) {
      data.usedBytes += cache.usedBytes;
      data.capacityBytes += cache.capacityBytes;
      now.hits += cache.hits;
      now.misses += cache.misses;
      now.dataWriteHits += cache.writeHits;
      now.dataWriteMisses += cache.writeMisses;
    }
    for (const { metadataCache: cache } of readings.groups) {
      if (cache === undefined) continue;
      metadata.dirtyBytes += cache.dirtyBytes;
      metadata.cleanBytes += cache.cleanBytes;
      metadata.capacityBytes += cache.capacityBytes;
      now.metaReadHits += cache.readHits;
      now.metaReadMisses += cache.readMisses;
      now.metaWriteHits += cache.writeHits;
      now.metaWriteMisses += cache.writeMisses;
    }
    const lookups = difference(now, this.#last);
    this.#last = now;
    return { data: { ...data, ...lookups }, metadata, lookups };
  }
}

/** Totals are reset with a controller, and shrink with a pool or a group that is deleted. */
function difference(now: Counts, last: Counts): Counts {
  const names = Object.keys(now) as (keyof Counts)[];
  const isLess = names.some((name) => now[name] < last[name]);
  return isLess
    ? nothing
    : (Object.fromEntries(names.map((name) => [name, now[name] - last[name]])) as unknown as Counts);
}
