import type { RecordOf } from '@granary/contract';
import type { Pool as PoolRecord } from '@granary/contract/array';
import { formatUtc, gigabytes, wholeGigabytes } from '@granary/kernel';
import { freeBytesOf } from './capacity-state.ts';
import type { PoolFacts } from './pool.ts';

export type PoolView = RecordOf<typeof PoolRecord>;

export function poolView(facts: PoolFacts): PoolView {
  const { pool, groups, provisionedBytes, report, allocationBytes } = facts;
  const chunkKb = allocationBytes / 1024;
  return {
    name: pool.name,
    display_name: pool.displayName,
    status: statusOf(facts),
    capacity: wholeGigabytes(pool.capacityBytes),
    available_capacity: gigabytes(freeBytesOf(pool, report)),
    provisioned_capacity: gigabytes(provisionedBytes),
    version: pool.version,
    data_type: 'BLOCK',
    // Servers decide by flushing when their writes must be on disk.
    mount_sync: 'NO',
    access_time_update: null,
    raid_group_name: groups.join(','),
    mode: pool.mode,
    stripe_size: pool.mode === 'stripe' ? chunkKb : 0,
    cache: yesNo(pool.cache),
    cow_cache: yesNo(pool.cowCache),
    capacity_mode: pool.capacityMode,
    capacity_history: pool.historyMinutes,
    alert_mode: pool.alertMinutes,
    protected_mode: pool.protectedMinutes,
    emergency_mode: wholeGigabytes(pool.emergencyBytes),
    chunk_size: chunkKb,
    type: pool.type as PoolView['type'],
    created_at: formatUtc(pool.createdAt),
    modified_at: formatUtc(pool.modifiedAt),
  };
}

function statusOf({ pool, isFailed, shrunk }: PoolFacts): string {
  if (pool.state !== 'ready') return pool.state;
  if (isFailed) return 'failed';
  return pool.shrinkGroup === null ? pool.capacityMode : `shrinking ${Math.floor(shrunk * 100)}%`;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
