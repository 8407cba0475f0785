import type { FaultyDrive } from '../../drive/faulty-drive.ts';
import type { MemoryDrive } from '../../drive/testing/memory-drive.ts';
import { BLOCK_BYTES, SECTOR_BYTES } from '../../units.ts';
import type { Layout } from '../layout.ts';

/** The parts of a drive, and how each can be damaged. */
export const AREAS = ['superblocks', 'intent log', 'journal', 'checksums', 'data', 'whole drive'] as const;
export const DAMAGES = ['zeroed', "another drive's", 'rolled back', 'rolled back over a restart'] as const;
export const EXTENTS = ['whole', 'in parts'] as const;

export type Area = (typeof AREAS)[number];
export type Damage = (typeof DAMAGES)[number];
export type Extent = (typeof EXTENTS)[number];

/** The contents of all drives at a point in time. */
export type Snapshot = readonly Buffer[];

export function bytesOf(drive: FaultyDrive): Buffer {
  return (drive.inner as MemoryDrive).bytes;
}

export function snapshotOf(drives: readonly FaultyDrive[]): Snapshot {
  return drives.map((drive) => Buffer.from(bytesOf(drive)));
}

export interface DamageCase {
  readonly slot: number;
  readonly area: Area;
  readonly damage: Damage;
  readonly extent: Extent;
}

/** Damages one drive without the group noticing. */
export function inflict(
  drives: readonly FaultyDrive[],
  layout: Layout,
  { slot, area, damage, extent }: DamageCase,
  before: Readonly<Record<'rolled back' | 'rolled back over a restart', Snapshot>>,
): void {
  const target = bytesOf(drives[slot] as FaultyDrive);
  const source = sourceOf(damage);
  const { start, end } = rangeOf(area, layout, target.length);
  // In parts: every third sector of metadata, every third block of data.
  const unit = area === 'data' || area === 'whole drive' ? BLOCK_BYTES : SECTOR_BYTES;
  if (extent === 'whole') source.copy(target, start, start, end);
  else for (let at = start; at < end; at += 3 * unit) source.copy(target, at, at, Math.min(end, at + unit));

  function sourceOf(kind: Damage): Buffer {
    if (kind === 'zeroed') return Buffer.alloc(target.length);
    if (kind === "another drive's") return Buffer.from(bytesOf(drives[(slot + 1) % drives.length] as FaultyDrive));
    return before[kind][slot] as Buffer;
  }
}

function rangeOf(area: Area, layout: Layout, driveBytes: number): { readonly start: number; readonly end: number } {
  const { intentOffset, intentPages, journalOffset, journalBytes, checksumOffset, dataOffset } = layout;
  switch (area) {
    case 'superblocks':
      return { start: 0, end: 2 * BLOCK_BYTES };
    case 'intent log':
      return { start: intentOffset, end: intentOffset + intentPages * BLOCK_BYTES };
    case 'journal':
      return { start: journalOffset, end: journalOffset + journalBytes };
    case 'checksums':
      return { start: checksumOffset, end: dataOffset };
    case 'data':
      return { start: dataOffset, end: driveBytes };
    case 'whole drive':
      return { start: 0, end: driveBytes };
  }
}
