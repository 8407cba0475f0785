import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BLOCK_BYTES, SECTOR_BYTES } from '../../units.ts';
import type { RegionSet } from './region-set.ts';

/**
 * A page of the write-intent log.
 *
 * Format 1 is a bitmap of marked regions and nothing else.
 *
 * Format 2 is eight sectors, each valid on its own, with a header as in sectors of checksum pages (checksum, owner,
 * number of the sector in the log) and two bitmaps: regions that are marked, and regions that have checksums on the
 * drive. The second bitmap distinguishes checksum pages that were never written from pages that were zeroed, also when
 * no other member is left.
 */
const SECTORS = BLOCK_BYTES / SECTOR_BYTES;
const OWNER_AT = 4;
const OWNER_BYTES = 8;
const NUMBER_AT = 12;
const MARKED_AT = 64;
const BITMAP_BYTES = (SECTOR_BYTES - MARKED_AT) / 2;
const WRITTEN_AT = MARKED_AT + BITMAP_BYTES;
const REGIONS_PER_SECTOR = BITMAP_BYTES * 8;
export const REGIONS_PER_INTENT_PAGE = { 1: BLOCK_BYTES * 8, 2: SECTORS * REGIONS_PER_SECTOR } as const;

/** Which regions are marked, and which have checksums on the drives. */
export interface IntentBits {
  readonly marked: RegionSet;
  readonly written: RegionSet;
}

export function intentOwner(groupId: string, memberUuid: string): Buffer {
  const hash = createHash('sha256').update(JSON.stringify([groupId, memberUuid, 'intent']));
  return hash.digest().subarray(0, OWNER_BYTES);
}

export function encodeIntentPage(index: number, owner: Buffer, { marked, written }: IntentBits): Buffer {
  const page = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < SECTORS; at += 1) {
    const sector = page.subarray(at * SECTOR_BYTES, (at + 1) * SECTOR_BYTES);
    const number = index * SECTORS + at;
    owner.copy(sector, OWNER_AT);
    sector.writeUInt32LE(number, NUMBER_AT);
    marked.writeBits(number * REGIONS_PER_SECTOR, sector.subarray(MARKED_AT, WRITTEN_AT));
    written.writeBits(number * REGIONS_PER_SECTOR, sector.subarray(WRITTEN_AT));
    sector.writeUInt32LE(crc32(sector.subarray(OWNER_AT)), 0);
  }
  return page;
}

/** Adds the bits of the page; returns the first regions of the valid sectors. */
export function decodeIntentPage(index: number, owner: Buffer, page: Buffer, bits: IntentBits): number[] {
  const fitting: number[] = [];
  for (let at = 0; at < SECTORS; at += 1) {
    const sector = page.subarray(at * SECTOR_BYTES, (at + 1) * SECTOR_BYTES);
    const number = index * SECTORS + at;
    const isOurs = sector.subarray(OWNER_AT, OWNER_AT + OWNER_BYTES).equals(owner);
    const isWhole = crc32(sector.subarray(OWNER_AT)) === sector.readUInt32LE(0);
    if (!isOurs || !isWhole || sector.readUInt32LE(NUMBER_AT) !== number) continue;
    bits.marked.addBits(number * REGIONS_PER_SECTOR, sector.subarray(MARKED_AT, WRITTEN_AT));
    bits.written.addBits(number * REGIONS_PER_SECTOR, sector.subarray(WRITTEN_AT));
    fitting.push(number * REGIONS_PER_SECTOR);
  }
  return fitting;
}

/** The first regions of the sectors that cover `regions` regions. */
export function* intentSectors(regions: number): Generator<{ readonly first: number; readonly end: number }> {
  for (let first = 0; first < regions; first += REGIONS_PER_SECTOR) {
    yield { first, end: Math.min(regions, first + REGIONS_PER_SECTOR) };
  }
}
