import type { RecordOf } from '@granary/contract';
import type { Pool as PoolRecord } from '@granary/contract/array';
import { formatUtc, gigabytes, wholeGigabytes } from '@granary/kernel';
import { freeBytesOf } from './capacity-state.ts';
import type { PoolFacts } from './pool.ts';

export type PoolView = RecordOf<typeof PoolRecord>;

export function poolView(facts: PoolFacts): PoolView {
  const { pool: row, groups, provisionedBytes, report, allocationBytes } = facts;
  const chunkKb = allocationBytes / 1024;
  return {
    name: row.name,
    display_name: row.displayName,
    status: statusOf(facts),
    capacity: wholeGigabytes(row.capacityBytes),
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
    cow_cache: yesNo(row.cowCache),
    capacity_mode: row.capacityMode,
    capacity_history: row.historyMinutes,
    alert_mode: row.alertMinutes,
    protected_mode: row.protectedMinutes,
    emergency_mode: wholeGigabytes(row.emergencyBytes),
    chunk_size: chunkKb,
    type: row.type as PoolView['type'],
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}

function statusOf({ pool: row, isFailed, shrunk }: PoolFacts): string {
  if (row.state !== 'ready') return row.state;
  if (isFailed) return 'failed';
  return row.shrinkGroup === null ? 'normal' : `shrinking ${Math.floor(shrunk * 100)}%`;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
