import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { Migration } from './migration.ts';
import type { VolumeMove } from './move.ts';

export interface ShownMigration {
  readonly row: Migration;
  /** While it is under way in this process. */
  readonly move: VolumeMove | undefined;
}

const KB = 1024;

/** `shipping` is what the snapshot under way is called. */
export function viewOf({ row, move }: ShownMigration, shipping: string | null, nowMs: number) {
  const isUnderWay = row.status === 'Running' || row.status === 'Paused';
  const totalBytes = Math.max(move?.progress?.totalBytes ?? row.totalBytes, row.copiedBytes);
  const copiedBytes = Math.min(totalBytes, move?.progress?.copiedBytes ?? row.copiedBytes);
  const rate = row.status === 'Running' ? (move?.bytesPerSecond(nowMs) ?? 0) : 0;
  return {
    name: row.name,
    display_name: `Migration of ${row.volumeName}`,
    src_cg_display_name: row.volumeName,
    src_cg_name: row.sourceGroup,
    src_pool_display_name: row.sourcePoolName,
    dst_cg_name: row.destinationGroup,
    dst_pool_display_name: row.destinationPoolName,
    shipping_display_name: isUnderWay ? shipping : null,
    status: row.status,
    cur_sync_rate_kb_sec: Math.round(rate / KB),
    shipping_position_mb: isUnderWay ? wholeMegabytes(move?.positionBytes ?? 0) : 0,
    total_capacity_to_migrate_mb: wholeMegabytes(totalBytes),
    already_migrated_mb: wholeMegabytes(copiedBytes),
    remaining_time_seconds: remaining(row.status, totalBytes - copiedBytes, rate),
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}

function remaining(status: string, bytes: number, rate: number): number | null {
  if (status === 'Completed') return 0;
  return rate > 0 ? Math.ceil(bytes / rate) : null;
}
