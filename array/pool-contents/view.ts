import { formatUtc, gigabytes } from '@granary/kernel';
import type { Volume } from '../volumes/volume.ts';

/** JSON text, as clients expect it there. */
export function binnedView({ name, displayName, consistencyGroup, sizeBytes, binnedAt }: Volume): string {
  return JSON.stringify({
    name,
    display_name: displayName,
    cg_name: consistencyGroup,
    virtual_capacity: gigabytes(sizeBytes),
    deleted_at: formatUtc(binnedAt ?? 0),
  });
}
