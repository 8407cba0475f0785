import type { RecordOf } from '@granary/contract';
import type { Pool } from '@granary/contract/array';
import { formatUtc, gigabytes, wholeGigabytes } from '@granary/kernel';
import type { PoolReport } from '../engine/report.ts';
import type { Volume } from '../volumes/volume.ts';
import { freeBytesOf } from './judgement.ts';
import type { PoolRow } from './repository.ts';

export type PoolView = RecordOf<typeof Pool>;

/** A pool with all that its row does not say. */
export interface PoolFacts {
  readonly row: PoolRow;
  /** Names of its RAID groups. */
  readonly groups: readonly string[];
  readonly provisionedBytes: number;
  /** None when the engine does not have it. */
  readonly report: PoolReport | undefined;
  /** Whether a RAID group of it no longer serves, or its own books cannot be read. */
  readonly isFailed: boolean;
  /** Of a shrink, from 0 to 1. */
  readonly shrunk: number;
  /** In pieces of which the engine gives out space. */
  readonly allocationBytes: number;
}

export function poolView(facts: PoolFacts): PoolView {
  const { row, groups, provisionedBytes, report, allocationBytes } = facts;
  const chunkKb = allocationBytes / 1024;
  return {
    name: row.name,
    display_name: row.display_name,
    status: statusOf(facts),
    capacity: wholeGigabytes(row.capacity_bytes),
    available_capacity: gigabytes(freeBytesOf(row, report)),
    provisioned_capacity: gigabytes(provisionedBytes),
    version: row.version,
    data_type: 'BLOCK',
    // Servers decide by flushing when their writes must be on disk.
    mount_sync: 'NO',
    access_time_update: null,
    raid_group_name: groups.join(','),
    mode: row.mode,
    stripe_size: row.mode === 'stripe' ? chunkKb : 0,
    cache: yesNo(row.cache),
    cow_cache: yesNo(row.cow_cache),
    capacity_mode: row.capacity_mode,
    capacity_history: row.capacity_history,
    alert_mode: row.alert_mode,
    protected_mode: row.protected_mode,
    emergency_mode: row.emergency_mode,
    chunk_size: chunkKb,
    type: row.type as PoolView['type'],
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

/** JSON text, as clients expect it there. */
export function binnedView({ name, displayName, consistencyGroup: cg_name, sizeBytes, binnedAt }: Volume): string {
  return JSON.stringify({
    name,
    display_name: displayName,
    cg_name,
    virtual_capacity: gigabytes(sizeBytes),
    deleted_at: formatUtc(binnedAt ?? 0),
  });
}

function statusOf({ row, isFailed, shrunk }: PoolFacts): string {
  if (row.state !== 'ready') return row.state;
  if (isFailed) return 'failed';
  return row.shrink_group === null ? 'normal' : `shrinking ${Math.floor(shrunk * 100)}%`;
}

function yesNo(value: number): 'YES' | 'NO' {
  return value === 0 ? 'NO' : 'YES';
}
