import { createHash } from 'node:crypto';
import { BLOCK_BYTES, SECTOR_BYTES } from '../../units.ts';
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
const HEAD_WORDS = ENTRIES_AT / 4;
export const ROWS_PER_SECTOR = (SECTOR_BYTES - ENTRIES_AT) / 4;
export const ROWS_PER_PAGE = { 1: BLOCK_BYTES / 4, 2: SECTORS * ROWS_PER_SECTOR } as const;
export const SLOTS_MAX = (ENTRIES_AT - GENERATIONS_AT) / 4;

const ZEROS = Buffer.alloc(SECTOR_BYTES);

/** A decoded sector. Without `generations` it is damaged or belongs to another owner. */
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

export function encodePage(
  entries: Uint32Array,
  owner: Buffer,
  generations: Uint32Array,
  into: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES),
): Buffer {
  // Signed arithmetic costs half as much here; the bits are the same.
  const words = new Int32Array(into.buffer, into.byteOffset, BLOCK_BYTES / 4);
  words.fill(0, 0, HEAD_WORDS);
  owner.copy(into, OWNER_AT);
  words.set(generations, GENERATIONS_AT / 4);
  const signed = new Int32Array(entries.buffer, entries.byteOffset, entries.length);
  for (let index = 0; index < SECTORS; index += 4) encodeSectors(words, index, signed);
  return into;
}

/**
 * Encodes four sectors at a time: their checksums are independent, so the processor computes them in parallel. The head
 * is copied from the first sector of the page, whose index is 0.
 */
function encodeSectors(words: Int32Array, index: number, entries: Int32Array): void {
  const one = index * WORDS;
  const two = one + WORDS;
  const three = two + WORDS;
  const four = three + WORDS;
  let [a, b, c, d] = [SECTOR_BYTES, SECTOR_BYTES, SECTOR_BYTES, SECTOR_BYTES];
  for (let at = 1; at < HEAD_WORDS; at += 1) {
    const word = words[at] as number;
    const isIndex = at === INDEX_AT / 4;
    a = mix(a, (words[one + at] = isIndex ? index : word));
    b = mix(b, (words[two + at] = isIndex ? index + 1 : word));
    c = mix(c, (words[three + at] = isIndex ? index + 2 : word));
    d = mix(d, (words[four + at] = isIndex ? index + 3 : word));
  }
  const first = index * ROWS_PER_SECTOR;
  for (let row = 0; row < ROWS_PER_SECTOR; row += 1) {
    const at = HEAD_WORDS + row;
    a = mix(a, (words[one + at] = entries[first + row] as number));
    b = mix(b, (words[two + at] = entries[first + ROWS_PER_SECTOR + row] as number));
    c = mix(c, (words[three + at] = entries[first + 2 * ROWS_PER_SECTOR + row] as number));
    d = mix(d, (words[four + at] = entries[first + 3 * ROWS_PER_SECTOR + row] as number));
  }
  words[one] = a;
  words[two] = b;
  words[three] = c;
  words[four] = d;
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

function checksumOfSector(words: Uint32Array, start: number): number {
  let sum = SECTOR_BYTES;
  for (let at = start + 1; at < start + WORDS; at += 1) sum = mix(sum, words[at] as number);
  return sum >>> 0;
}

/** Every step is a bijection: a change of one word always changes the result. */
function mix(sum: number, word: number): number {
  const product = Math.imul(sum ^ word, 0x9e37_79b1);
  return product ^ (product >>> 15);
}

function wordsOf(page: Buffer): Uint32Array {
  return new Uint32Array(page.buffer, page.byteOffset, BLOCK_BYTES / 4);
}

/** The latest generation of every slot that any of these pages records. */
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
