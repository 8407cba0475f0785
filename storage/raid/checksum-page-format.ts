import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BLOCK_BYTES, SECTOR_BYTES } from '../units.ts';
import { laterOf } from './generations.ts';

/**
 * A page holds the checksums of one region of one member.
 *
 * Format 1 is 1024 checksums and nothing else.
 *
 * Format 2 is eight sectors, each whole in itself, because a power cut may leave any of them old and others new:
 *
 *     0   checksum of the rest of the sector
 *     4   owner: the first 8 bytes of a hash over the group, the member and the region
 *     12  index of the sector in its page
 *     16  generations: for each slot of the group, the generation of its page of this region, as far as it was known
 *     64  checksums of 112 blocks
 *
 * A sector of zeros was never written. Whether that can be so, the other members' generations tell: a write of data
 * changes its member's page and those of the parity or of the other copies, and all of them record the generations of
 * all. A page that was zeroed or rolled back is behind the generation that others have on record for it; one of another
 * drive has another owner.
 */
const SECTORS = BLOCK_BYTES / SECTOR_BYTES;
const OWNER_AT = 4;
const OWNER_BYTES = 8;
const INDEX_AT = 12;
const GENERATIONS_AT = 16;
const ENTRIES_AT = 64;
export const ROWS_PER_SECTOR = (SECTOR_BYTES - ENTRIES_AT) / 4;
export const ROWS_PER_PAGE = { 1: BLOCK_BYTES / 4, 2: SECTORS * ROWS_PER_SECTOR } as const;
export const SLOTS_MAX = (ENTRIES_AT - GENERATIONS_AT) / 4;

const ZEROS = Buffer.alloc(SECTOR_BYTES);

/** What a sector of a page says. Without `generations` it is damaged or another's. */
interface ReadSector {
  readonly generations: Uint32Array | undefined;
  readonly entries: Uint32Array;
}

export interface ReadPage {
  readonly sectors: readonly ReadSector[];
}

export function ownerOf(groupId: string, memberUuid: string, region: number): Buffer {
  const hash = createHash('sha256').update(JSON.stringify([groupId, memberUuid, region]));
  return hash.digest().subarray(0, OWNER_BYTES);
}

export function encodePage(entries: Uint32Array, owner: Buffer, generations: Uint32Array): Buffer {
  const page = Buffer.alloc(BLOCK_BYTES);
  const words = new Uint32Array(page.buffer, page.byteOffset, BLOCK_BYTES / 4);
  for (let index = 0; index < SECTORS; index += 1) {
    const start = index * SECTOR_BYTES;
    owner.copy(page, start + OWNER_AT);
    page.writeUInt32LE(index, start + INDEX_AT);
    words.set(generations, (start + GENERATIONS_AT) / 4);
    const first = index * ROWS_PER_SECTOR;
    words.set(entries.subarray(first, first + ROWS_PER_SECTOR), (start + ENTRIES_AT) / 4);
    page.writeUInt32LE(crc32(page.subarray(start + OWNER_AT, start + SECTOR_BYTES)), start);
  }
  return page;
}

export function decodePage(page: Buffer, owner: Buffer, slots: number): ReadPage {
  const sectors: ReadSector[] = [];
  for (let index = 0; index < SECTORS; index += 1) {
    sectors.push(decodeSector(page.subarray(index * SECTOR_BYTES, (index + 1) * SECTOR_BYTES), index, owner, slots));
  }
  return { sectors };
}

function decodeSector(sector: Buffer, index: number, owner: Buffer, slots: number): ReadSector {
  const entries = new Uint32Array(ROWS_PER_SECTOR);
  if (sector.equals(ZEROS)) return { generations: new Uint32Array(slots), entries };
  const isOurs = sector.subarray(OWNER_AT, OWNER_AT + OWNER_BYTES).equals(owner);
  const isWhole = crc32(sector.subarray(OWNER_AT)) === sector.readUInt32LE(0);
  if (!isOurs || !isWhole || sector.readUInt32LE(INDEX_AT) !== index) return { generations: undefined, entries };
  const generations = new Uint32Array(slots);
  for (let slot = 0; slot < slots; slot += 1) generations[slot] = sector.readUInt32LE(GENERATIONS_AT + slot * 4);
  for (let row = 0; row < ROWS_PER_SECTOR; row += 1) entries[row] = sector.readUInt32LE(ENTRIES_AT + row * 4);
  return { generations, entries };
}

/** The latest generation of every slot that any of these pages has on record. */
export function latestGenerations(pages: readonly ReadPage[], slots: number): Uint32Array {
  const latest = new Uint32Array(slots);
  for (const { sectors } of pages) {
    for (const { generations } of sectors) {
      if (generations === undefined) continue;
      for (let slot = 0; slot < slots; slot += 1) {
        latest[slot] = laterOf(latest[slot] as number, generations[slot] as number);
      }
    }
  }
  return latest;
}
