import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { SnapshotInPlace } from './repository.ts';

export function viewOf(snapshot: SnapshotInPlace) {
  return {
    name: snapshot.name,
    display_name: snapshot.display_name,
    status: 'normal' as const,
    cg_name: snapshot.cg_name,
    cg_display_name: snapshot.volume_display_name,
    pool_name: snapshot.pool,
    volume_ext_name: snapshot.volume,
    volume_display_name: snapshot.volume_display_name,
    volume_capacity_mb: wholeMegabytes(snapshot.size_bytes),
    created_at: formatUtc(snapshot.created_at),
    modified_at: formatUtc(snapshot.modified_at),
  };
}
