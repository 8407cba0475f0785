import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { ShownMigration } from './service.ts';

const KB = 1024;

/** `shipping` is what the snapshot under way is called. */
export function viewOf({ row, move }: ShownMigration, shipping: string | null, nowMs: number) {
  const isUnderWay = row.status === 'Running' || row.status === 'Paused';
  const totalBytes = Math.max(move?.progress?.totalBytes ?? row.total_bytes, row.copied_bytes);
  const copiedBytes = Math.min(totalBytes, move?.progress?.copiedBytes ?? row.copied_bytes);
  const rate = row.status === 'Running' ? (move?.bytesPerSecond(nowMs) ?? 0) : 0;
  return {
    name: row.name,
    display_name: `Migration of ${row.volume_name}`,
    src_cg_display_name: row.volume_name,
    src_cg_name: row.src_cg,
    src_pool_display_name: row.src_pool_name,
    dst_cg_name: row.dst_cg,
    dst_pool_display_name: row.dst_pool_name,
    shipping_display_name: isUnderWay ? shipping : null,
    status: row.status,
    cur_sync_rate_kb_sec: Math.round(rate / KB),
    shipping_position_mb: isUnderWay ? wholeMegabytes(move?.positionBytes ?? 0) : 0,
    total_capacity_to_migrate_mb: wholeMegabytes(totalBytes),
    already_migrated_mb: wholeMegabytes(copiedBytes),
    remaining_time_seconds: remaining(row.status, totalBytes - copiedBytes, rate),
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

function remaining(status: string, bytes: number, rate: number): number | null {
  if (status === 'Completed') return 0;
  return rate > 0 ? Math.ceil(bytes / rate) : null;
}
