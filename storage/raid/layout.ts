import assert from 'node:assert/strict';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT, EXTENT_BYTES } from '../units.ts';
import { REGIONS_PER_INTENT_PAGE } from './intent/intent-page.ts';
import { ROWS_PER_PAGE } from './checksums/checksum-page-format.ts';

/** Rows that background work holds at a time, which bounds the wait of other operations. */
export const BATCH_ROWS = 64;

export type RaidLevel = 'RAID1' | 'RAID6';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const STRIPE_BYTES = [4, 16, 32, 64, 128, 256].map((kibibytes) => kibibytes * KIBIBYTE);
export const STRIPE_BYTES_DEFAULT = 64 * KIBIBYTE;
const MEMBERS = { RAID1: { least: 2, most: 3 }, RAID6: { least: 4, most: 10 } } as const;
const INTENT_OFFSET = 64 * KIBIBYTE;
const JOURNAL_BYTES_MIN = 512 * KIBIBYTE;
const JOURNAL_BYTES_MAX = 4 * MEBIBYTE;
const JOURNAL_SHARE = 64;

/**
 * The format of checksums and of the write-intent log. Format 1 has bare checksums: a zeroed page reads as "never
 * written". Format 2 has sectors that carry their owner, a generation and a checksum of their own.
 */
export type GroupFormat = 1 | 2;
export const FORMAT_NEWEST: GroupFormat = 2;

export interface LayoutInput {
  /** The newest, unless the group was created by an earlier version. */
  readonly format?: GroupFormat;
  readonly level: RaidLevel;
  readonly memberCount: number;
  readonly stripeBytes: number;
  /** The size of the smallest member; the rest of larger members is unused. */
  readonly memberBytes: number;
}

/**
 * Where things are on every member: superblocks, write-intent bitmap, journal (RAID6), checksums, data. A row is the
 * blocks at one place on all members. See `README.md` for the picture.
 */
export interface Layout extends LayoutInput {
  readonly format: GroupFormat;
  /** Rows that one page of checksums and one bit of the write-intent log cover: whole stripes and whole extents. */
  readonly regionRows: number;
  readonly intentOffset: number;
  readonly intentPages: number;
  readonly journalOffset: number;
  readonly journalBytes: number;
  readonly checksumOffset: number;
  readonly dataOffset: number;
  readonly rows: number;
  readonly regions: number;
  /** Members that may be missing. */
  readonly redundancy: number;
  readonly dataMembers: number;
  readonly capacityBytes: number;
}

export function layOut(input: LayoutInput): Layout {
  check(input);
  const { level, memberBytes, memberCount, format = FORMAT_NEWEST } = input;
  const regionRows = ROWS_PER_PAGE[format];
  const regionsAtMost = Math.ceil(memberBytes / (regionRows * BLOCK_BYTES));
  const intentPages = Math.ceil(regionsAtMost / REGIONS_PER_INTENT_PAGE[format]);
  const journalOffset = INTENT_OFFSET + intentPages * BLOCK_BYTES;
  const journalBytes = level === 'RAID6' ? journalSize(memberBytes) : 0;
  const checksumOffset = journalOffset + journalBytes;
  const dataOffset = roundUp(checksumOffset + regionsAtMost * BLOCK_BYTES, MEBIBYTE);
  const dataBytes = Math.max(0, Math.floor((memberBytes - dataOffset) / EXTENT_BYTES) * EXTENT_BYTES);
  if (dataBytes === 0) {
    throw new StorageError('invalid', `A drive of ${memberBytes} bytes is too small; take one of 8 MiB or more.`);
  }
  const regions = Math.ceil(dataBytes / BLOCK_BYTES / regionRows);
  assert.ok(regions <= regionsAtMost, 'each region has a page of checksums');
  assert.ok(regionRows % (input.stripeBytes / BLOCK_BYTES) === 0, 'regions are whole stripes');
  assert.ok(regionRows % BLOCKS_PER_EXTENT === 0, 'regions are whole extents');
  const redundancy = level === 'RAID1' ? memberCount - 1 : 2;
  const dataMembers = level === 'RAID1' ? 1 : memberCount - 2;
  return {
    ...input,
    format,
    regionRows,
    intentOffset: INTENT_OFFSET,
    intentPages,
    journalOffset,
    journalBytes,
    checksumOffset,
    dataOffset,
    rows: dataBytes / BLOCK_BYTES,
    regions,
    redundancy,
    dataMembers,
    capacityBytes: dataBytes * dataMembers,
  };
}

function check({ level, memberCount, stripeBytes }: LayoutInput): void {
  const { least, most } = MEMBERS[level];
  if (memberCount < least || memberCount > most) {
    throw new StorageError('invalid', `${level} takes ${least} to ${most} drives, not ${memberCount}.`);
  }
  if (STRIPE_BYTES.includes(stripeBytes)) return;
  const sizes = STRIPE_BYTES.map((bytes) => bytes / KIBIBYTE).join(', ');
  throw new StorageError('invalid', `A stripe of ${stripeBytes} bytes is not offered; take ${sizes} KiB.`);
}

function journalSize(memberBytes: number): number {
  const share = roundUp(Math.floor(memberBytes / JOURNAL_SHARE), 64 * KIBIBYTE);
  return Math.min(JOURNAL_BYTES_MAX, Math.max(JOURNAL_BYTES_MIN, share));
}

function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/** The offset of a region's checksum page on a member. */
export function checksumPageOffset(layout: Layout, region: number): number {
  return layout.checksumOffset + region * BLOCK_BYTES;
}
