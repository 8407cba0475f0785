import { randomUUID } from 'node:crypto';
import type { ShareOptions } from '../shares/options.ts';
import type { VolumeRow } from './repository.ts';

export interface NewVolumeRequest {
  readonly displayName: string;
  readonly pool: string;
  readonly sizeBytes: number;
  /** As the array does it with new volumes when left out. */
  readonly compress?: boolean | undefined;
  readonly dedupe?: boolean | undefined;
  readonly encrypted: boolean;
  /** A block volume when left out. */
  readonly share?: NewShare | undefined;
  readonly autoExpand?: boolean;
  readonly autoExpandByMb?: number | undefined;
  readonly maxCapacityMb?: number | undefined;
  readonly readIopsCapping?: number | undefined;
  readonly readMbpsCapping?: number | undefined;
  readonly writeIopsCapping?: number | undefined;
  readonly writeMbpsCapping?: number | undefined;
  /** The mirror it is the destination of. */
  readonly mirrorJob?: string | undefined;
}

/** A volume with a filesystem in it. */
export interface NewShare {
  readonly options: ShareOptions;
  /** Its own name when left out. */
  readonly exportName?: string | undefined;
  /** Where the name is taken or cannot be one of an export, another like it will do. */
  readonly orSimilar?: boolean;
}

export type Reduced = NewVolumeRequest & { readonly compress: boolean; readonly dedupe: boolean };
export type Unnamed = Omit<VolumeRow, 'cg_name' | 'wrapped_key'>;

/** An identifier of the form servers expect of a disk (NAA, type 6), by chance unique. */
function newWwid(): string {
  return `6${randomUUID().replaceAll('-', '').slice(1)}`;
}

export function newRow(name: string, wanted: Reduced, now: number): Unnamed {
  return {
    name,
    display_name: wanted.displayName,
    pool: wanted.pool,
    kind: wanted.share ? 'file' : 'block',
    size_bytes: wanted.sizeBytes,
    // A filesystem that was just made is not empty: only its row tells that nobody uses it yet.
    state: wanted.share ? 'creating' : 'ready',
    comment: null,
    compress: wanted.compress ? 1 : 0,
    dedupe: wanted.dedupe ? 1 : 0,
    wwid: newWwid(),
    mirror_job: wanted.mirrorJob ?? null,
    migration: null,
    mtr_histograms: 0,
    capacity_mode: 'normal',
    capacity_history: 60,
    alert_mode: 0,
    emergency_gb: 0,
    auto_expand: wanted.autoExpand === true ? 1 : 0,
    auto_expand_by_mb: wanted.autoExpandByMb ?? null,
    max_capacity_mb: wanted.maxCapacityMb ?? null,
    read_iops_limit: 0,
    read_mbps_limit: 0,
    read_latency_limit: 0,
    write_iops_limit: 0,
    write_mbps_limit: 0,
    write_latency_limit: 0,
    read_iops_capping: wanted.readIopsCapping ?? 0,
    read_mbps_capping: wanted.readMbpsCapping ?? 0,
    write_iops_capping: wanted.writeIopsCapping ?? 0,
    write_mbps_capping: wanted.writeMbpsCapping ?? 0,
    is_untold: 0,
    delete_job: null,
    binned_at: null,
    created_at: now,
    modified_at: now,
  };
}

/** It starts as its source is; what watches and what caps the source are its own affair. */
export function cloneRow(name: string, displayName: string, source: VolumeRow, now: number): Unnamed {
  const { pool, size_bytes: sizeBytes, compress, dedupe } = source;
  const like = { displayName, pool, sizeBytes, compress: compress === 1, dedupe: dedupe === 1, encrypted: false };
  return { ...newRow(name, like, now), kind: source.kind, state: 'creating' };
}
