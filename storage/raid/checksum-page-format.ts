import { createHash } from 'node:crypto';
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
const WORDS = SECTOR_BYTES / 4;
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
  const page = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  const words = wordsOf(page);
  for (let index = 0; index < SECTORS; index += 1) {
    const start = index * WORDS;
    words.fill(0, start, start + ENTRIES_AT / 4);
    owner.copy(page, start * 4 + OWNER_AT);
    words[start + INDEX_AT / 4] = index;
    words.set(generations, start + GENERATIONS_AT / 4);
    const first = index * ROWS_PER_SECTOR;
    words.set(entries.subarray(first, first + ROWS_PER_SECTOR), start + ENTRIES_AT / 4);
    words[start] = checksumOfSector(words, start);
  }
  return page;
}

export function decodePage(page: Buffer, owner: Buffer, slots: number): ReadPage {
  const words = wordsOf(page);
  const sectors: ReadSector[] = [];
  for (let index = 0; index < SECTORS; index += 1) sectors.push(decodeSector(page, words, index, owner, slots));
  return { sectors };
}

function decodeSector(page: Buffer, words: Uint32Array, index: number, owner: Buffer, slots: number): ReadSector {
  const start = index * WORDS;
  const sector = page.subarray(start * 4, start * 4 + SECTOR_BYTES);
  if (sector.equals(ZEROS)) return { generations: new Uint32Array(slots), entries: new Uint32Array(ROWS_PER_SECTOR) };
  const isOurs = sector.subarray(OWNER_AT, OWNER_AT + OWNER_BYTES).equals(owner);
  const isWhole = words[start] === checksumOfSector(words, start) && words[start + INDEX_AT / 4] === index;
  const generationsAt = start + GENERATIONS_AT / 4;
  return {
    generations: isOurs && isWhole ? words.slice(generationsAt, generationsAt + slots) : undefined,
    entries: words.slice(start + ENTRIES_AT / 4, start + WORDS),
  };
}

/** Every step is one-to-one: a change of one word always changes the result. */
function checksumOfSector(words: Uint32Array, start: number): number {
  let sum = SECTOR_BYTES;
  for (let at = start + 1; at < start + WORDS; at += 1) {
    sum = Math.imul(sum ^ (words[at] as number), 0x9e37_79b1);
    sum ^= sum >>> 15;
  }
  return sum >>> 0;
}

function wordsOf(page: Buffer): Uint32Array {
  return new Uint32Array(page.buffer, page.byteOffset, BLOCK_BYTES / 4);
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
