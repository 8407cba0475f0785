import { EXTENT_BYTES } from '@granary/storage/units';

/** How much a pool uses of one of its RAID groups. */
export interface GroupShare {
  readonly group: string;
  readonly bytes: number;
}

/** What of a group's record says how much it holds, and how much a pool uses of it. */
export interface GroupSpace {
  readonly name: string;
  readonly capacity_bytes: number;
  readonly pool_bytes: number;
}

/** What no pool uses of a RAID group yet: whole extents. */
export function roomIn({ capacity_bytes, pool_bytes }: GroupSpace): number {
  return Math.floor(capacity_bytes / EXTENT_BYTES) * EXTENT_BYTES - pool_bytes;
}
