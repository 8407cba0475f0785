import { formatUtc, wholeMegabytes } from '@granary/kernel';
import type { SnapshotInPlace } from './snapshot.ts';

export function viewOf(snapshot: SnapshotInPlace) {
  return {
    name: snapshot.name,
    display_name: snapshot.displayName,
    status: 'normal' as const,
    cg_name: snapshot.consistencyGroup,
    cg_display_name: snapshot.volumeDisplayName,
    pool_name: snapshot.pool,
    volume_ext_name: snapshot.volume,
    volume_display_name: snapshot.volumeDisplayName,
    volume_capacity_mb: wholeMegabytes(snapshot.sizeBytes),
    created_at: formatUtc(snapshot.createdAt),
    modified_at: formatUtc(snapshot.modifiedAt),
  };
}
