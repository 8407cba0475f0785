import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { Migration } from './migration.ts';
import type { VolumeMove } from './move.ts';

export interface ShownMigration {
  readonly migration: Migration;
  /** While it is under way in this process. */
  readonly move: VolumeMove | undefined;
}

const KB = 1024;

/** `shipping` is what the snapshot under way is called. */
export function viewOf({ migration, move }: ShownMigration, shipping: string | null, nowMs: number) {
  const isUnderWay = migration.status === 'Running' || migration.status === 'Paused';
  const totalBytes = Math.max(move?.progress?.totalBytes ?? migration.totalBytes, migration.copiedBytes);
  const copiedBytes = Math.min(totalBytes, move?.progress?.copiedBytes ?? migration.copiedBytes);
  const rate = migration.status === 'Running' ? (move?.bytesPerSecond(nowMs) ?? 0) : 0;
  return {
    name: migration.name,
    display_name: `Migration of ${migration.volumeName}`,
    src_cg_display_name: migration.volumeName,
    src_cg_name: migration.sourceGroup,
    src_pool_display_name: migration.sourcePoolName,
    dst_cg_name: migration.destinationGroup,
    dst_pool_display_name: migration.destinationPoolName,
    shipping_display_name: isUnderWay ? shipping : null,
    status: migration.status,
    cur_sync_rate_kb_sec: Math.round(rate / KB),
    shipping_position_mb: isUnderWay ? wholeMegabytes(move?.positionBytes ?? 0) : 0,
    total_capacity_to_migrate_mb: wholeMegabytes(totalBytes),
    already_migrated_mb: wholeMegabytes(copiedBytes),
    remaining_time_seconds: remaining(migration.status, totalBytes - copiedBytes, rate),
    created_at: formatUtc(migration.createdAt),
    modified_at: formatUtc(migration.modifiedAt),
  };
}

function remaining(status: string, bytes: number, rate: number): number | null {
  if (status === 'Completed') return 0;
  return rate > 0 ? Math.ceil(bytes / rate) : null;
}
