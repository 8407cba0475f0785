import { fail } from '@granary/kernel';
import { EXTENT_BYTES } from '@granary/storage/units';
import type { RaidGroupRow } from '../raid-groups/repository.ts';
import { GB, MB } from '../units.ts';

/** What a pool can use of its RAID groups: whole extents of each. */
export function heldBytes(groups: readonly Pick<RaidGroupRow, 'capacity_bytes'>[]): number {
  return groups.reduce((sum, { capacity_bytes }) => sum + wholeExtents(capacity_bytes), 0);
}

/** So much of the groups: all when nothing is said, at most what they hold. */
export function capacityOf(groups: readonly RaidGroupRow[], wantedMb: number | undefined, before = 0): number {
  const held = heldBytes(groups);
  if (wantedMb === undefined) return held;
  const wanted = before + wholeExtents(wantedMb * MB);
  if (wanted <= held) return wanted;
  const names = groups.map(({ name }) => name).join(', ');
  const problem = `${names} hold ${inGb(held)} GB together, ${inGb(wanted)} GB would be needed; ask for less or add RAID groups.`;
  throw fail('capacity_refused', { problem });
}

/** For messages: as few digits as tell it apart. */
export function inGb(bytes: number): string {
  return String(Math.floor((bytes / GB) * 100) / 100);
}

function wholeExtents(bytes: number): number {
  return Math.floor(bytes / EXTENT_BYTES) * EXTENT_BYTES;
}
