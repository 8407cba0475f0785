import type { RecordOf } from '@granary/contract';
import type {
  CachePoint as CacheRecord,
  ControllerPoint as ControllerRecord,
  IoPoint as IoRecord,
} from '@granary/contract/array';
import type { MetadataCacheTotals } from '../engine/report.ts';
import { GB, MB } from '../units.ts';
import { processors } from './machine.ts';

export type IoPoint = RecordOf<typeof IoRecord>;
export type ControllerPoint = RecordOf<typeof ControllerRecord>;
export type CachePoint = RecordOf<typeof CacheRecord>;

/** What `sumsOfController` and `sumsOfCache` put together is taken apart here. */
export interface ControllerMeasurement {
  readonly userMicroseconds: number;
  readonly systemMicroseconds: number;
  readonly waitingShare: number;
  /** Of the machine, whatever else runs on it. */
  readonly idleShare: number;
  readonly memoryBytes: number;
}

export interface CacheMeasurement {
  readonly usedBytes: number;
  readonly capacityBytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** How the caches were used: the lookups of a stretch of time. */
export interface CacheLookups {
  readonly dataWriteHits: number;
  readonly dataWriteMisses: number;
  readonly metaReadHits: number;
  readonly metaReadMisses: number;
  readonly metaWriteHits: number;
  readonly metaWriteMisses: number;
}

type MetadataLevels = Pick<MetadataCacheTotals, 'dirtyBytes' | 'cleanBytes' | 'capacityBytes'>;

/** Values that are levels, not counts, are weighed by how long they held. */
export function sumsOfController(measured: ControllerMeasurement, seconds: number): number[] {
  const { userMicroseconds, systemMicroseconds, waitingShare, idleShare, memoryBytes } = measured;
  return [
    userMicroseconds,
    systemMicroseconds,
    waitingShare * seconds,
    memoryBytes * seconds,
    seconds,
    idleShare * seconds,
  ];
}

export function sumsOfCache({ usedBytes, capacityBytes, hits, misses }: CacheMeasurement, seconds: number): number[] {
  return [usedBytes * seconds, capacityBytes * seconds, hits, misses, seconds, 0];
}

export function sumsOfMetadata({ dirtyBytes, cleanBytes, capacityBytes }: MetadataLevels, seconds: number): number[] {
  return [dirtyBytes * seconds, cleanBytes * seconds, capacityBytes * seconds, 0, seconds, 0];
}

export function sumsOfLookups(lookups: CacheLookups): number[] {
  const { dataWriteHits, dataWriteMisses, metaReadHits, metaReadMisses, metaWriteHits, metaWriteMisses } = lookups;
  return [dataWriteHits, dataWriteMisses, metaReadHits, metaReadMisses, metaWriteHits, metaWriteMisses];
}

export function ioPoint(sums: Float64Array, seconds: number, point: number): IoPoint {
  const [reads = 0, bytesRead = 0, readMicroseconds = 0, writes = 0, bytesWritten = 0, writeMicroseconds = 0] = sums;
  return {
    rd_iops: rounded(reads / seconds),
    rd_iotime: rounded(ratio(readMicroseconds, reads) / 1000),
    rd_bandwidth: rounded(bytesRead / MB / seconds),
    // By Little's law: how many there were at a time is how long they took, all together, per time.
    rd_queue_len: rounded(readMicroseconds / 1e6 / seconds),
    wrt_iops: rounded(writes / seconds),
    wrt_iotime: rounded(ratio(writeMicroseconds, writes) / 1000),
    wrt_bandwidth: rounded(bytesWritten / MB / seconds),
    wrt_queue_len: rounded(writeMicroseconds / 1e6 / seconds),
    point,
  };
}

export interface ProcessorUse {
  readonly user: number;
  readonly system: number;
  readonly waiting: number;
}

export interface ControllerSums {
  readonly sums: Float64Array;
  readonly io: Float64Array;
  readonly metadata: Float64Array;
}

export interface CacheSums {
  readonly data: Float64Array;
  readonly metadata: Float64Array;
  readonly lookups: Float64Array;
}

/** Percent of all processors of the machine. */
export function processorUse(sums: Float64Array): ProcessorUse {
  const [user = 0, system = 0, waiting = 0, , seconds = 0] = sums;
  const whole = seconds * processors * 1e6;
  return { user: percent(user, whole), system: percent(system, whole), waiting: percent(waiting, seconds) };
}

export function measuredSeconds(sums: Float64Array): number {
  return sums[4] ?? 0;
}

export function memoryUsed(sums: Float64Array): number {
  return ratio(sums[3] ?? 0, measuredSeconds(sums));
}

export function controllerPoint({ sums, io, metadata }: ControllerSums, point: number): ControllerPoint {
  const { user, system, waiting } = processorUse(sums);
  return {
    cpu_user: rounded(user),
    cpu_system: rounded(system),
    cpu_iowait: rounded(waiting),
    cpu_idle: rounded(percent(sums[5] ?? 0, measuredSeconds(sums))),
    mem_alloc: rounded(memoryUsed(sums) / MB),
    gb_wrt: rounded((io[4] ?? 0) / GB, 6),
    gb_rd: rounded((io[1] ?? 0) / GB, 6),
    // Data is written through: none of it is ever in the cache alone.
    zcache_data_dirty: 0,
    zcache_meta_dirty: levelOf(metadata, 0),
    point,
  };
}

/**
 * Data is what pools keep of what was read; it is written through, so none is dirty. Metadata is the checksums of RAID groups,
 * which reach the drives at a flush.
 */
export function cachePoint({ data, metadata, lookups }: CacheSums, point: number): CachePoint {
  const [used = 0, capacity = 0, hits = 0, misses = 0, seconds = 0] = data;
  const [dirty = 0, clean = 0, metaCapacity = 0] = metadata;
  const [writeHits = 0, writeMisses = 0, metaHits = 0, metaMisses = 0, metaWriteHits = 0, metaWriteMisses = 0] =
    lookups;
  return {
    zcache_data_dirty: 0,
    zcache_meta_dirty: levelOf(metadata, 0),
    zcache_data_clean: rounded(ratio(used, seconds) / MB),
    zcache_meta_clean: levelOf(metadata, 1),
    zcache_data_cb_util: rounded(percent(used, capacity)),
    zcache_meta_cb_util: rounded(percent(dirty + clean, metaCapacity)),
    zcache_data_read_hit: rounded(percent(hits, hits + misses)),
    zcache_meta_read_hit: rounded(percent(metaHits, metaHits + metaMisses)),
    zcache_data_write_hit: rounded(percent(writeHits, writeHits + writeMisses)),
    zcache_meta_write_hit: rounded(percent(metaWriteHits, metaWriteHits + metaWriteMisses)),
    point,
  };
}

/** MB of metadata, on average. */
function levelOf(metadata: Float64Array, column: number): number {
  return rounded(ratio(metadata[column] ?? 0, measuredSeconds(metadata)) / MB);
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

function percent(part: number, whole: number): number {
  return ratio(part, whole) * 100;
}

function rounded(value: number, digits = 3): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
