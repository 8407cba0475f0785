import { MAP_PAGE_BLOCKS } from '../store/layout.ts';
import type { FilesystemStore } from '../store/filesystem-store.ts';
import type { Findings } from './findings.ts';

const WORDS = MAP_PAGE_BLOCKS / 32;

/**
 * Verifies that each block has one owner, and that the owned blocks are exactly those the space map has as allocated.
 */
export class BlockOwnership {
  readonly #findings: Findings;
  readonly #totalBlocks: number;
  readonly #pages = new Map<number, Uint32Array>();
  ownedBlocks = 0;

  constructor(findings: Findings, totalBlocks: number) {
    this.#findings = findings;
    this.#totalBlocks = totalBlocks;
  }

  own(start: number, count: number, owner: string): void {
    if (start < 0 || start + count > this.#totalBlocks) {
      this.#findings.add(`${owner} owns blocks ${start} to ${start + count}, which are not on the volume`);
      return;
    }
    let twice = 0;
    for (let block = start; block < start + count; block += 1) if (!this.#mark(block)) twice += 1;
    this.ownedBlocks += count - twice;
    if (twice > 0) this.#findings.add(`${owner} owns ${twice} blocks from ${start} on that belong to others`);
  }

  async compare(store: FilesystemStore): Promise<void> {
    for (let index = 0; index * MAP_PAGE_BLOCKS < this.#totalBlocks; index += 1) {
      if (index >= store.space.pagesUsed && !this.#pages.has(index)) continue;
      const taken = await store.read(() => store.space.allocatedIn(index));
      this.#comparePage(index, taken, this.#pages.get(index) ?? new Uint32Array(WORDS));
    }
    const { allocatedBlocks } = store.space;
    if (allocatedBlocks !== this.ownedBlocks) {
      this.#findings.add(`${allocatedBlocks} blocks are on record as taken; ${this.ownedBlocks} are`);
    }
  }

  #comparePage(index: number, taken: Uint32Array, owned: Uint32Array): void {
    const blocks = Math.min(MAP_PAGE_BLOCKS, this.#totalBlocks - index * MAP_PAGE_BLOCKS);
    let lost = 0;
    let missing = 0;
    for (let bit = 0; bit < blocks; bit += 1) {
      const difference = bitOf(taken, bit) - bitOf(owned, bit);
      if (difference > 0) lost += 1;
      if (difference < 0) missing += 1;
    }
    const first = index * MAP_PAGE_BLOCKS;
    if (lost > 0) this.#findings.add(`${lost} blocks from ${first} on are taken, but belong to nothing`);
    if (missing > 0) this.#findings.add(`${missing} blocks from ${first} on are in use, but free in the space map`);
  }

  #mark(block: number): boolean {
    const index = Math.floor(block / MAP_PAGE_BLOCKS);
    let words = this.#pages.get(index);
    if (words === undefined) this.#pages.set(index, (words = new Uint32Array(WORDS)));
    const bit = block % MAP_PAGE_BLOCKS;
    if (bitOf(words, bit) === 1) return false;
    words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31));
    return true;
  }
}

function bitOf(words: Uint32Array, bit: number): number {
  return ((words[bit >>> 5] as number) >>> (bit & 31)) & 1;
}
