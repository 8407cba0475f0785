import assert from 'node:assert/strict';
import { BLOCK_BYTES } from '../../units.ts';

const SECTOR_BYTES = 512;
const SECTORS = BLOCK_BYTES / SECTOR_BYTES;

/** The expected contents of the group: a number per sector, repeated all over it. Zero is a sector of zeros. */
export class GroupModel {
  /** For each block and sector, what it may hold: one value, or several while it is not flushed. */
  readonly #allowed = new Map<number, Set<number>[]>();
  #lastTag = 0;

  newTag(): number {
    this.#lastTag += 1;
    return this.#lastTag;
  }

  /** The content of blocks that all carry their own tag. */
  content(tags: readonly number[]): Buffer {
    const content = Buffer.alloc(tags.length * BLOCK_BYTES);
    for (const [index, tag] of tags.entries()) {
      if (tag === 0) continue;
      const block = content.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
      block.fill(Buffer.from(Uint32Array.of(tag, tag ^ 0x5bd1e995).buffer));
    }
    return content;
  }

  /** The blocks hold this now. */
  set(block: number, tags: readonly number[]): void {
    for (const [index, tag] of tags.entries())
      this.#allowed.set(
        block + index,
        sectorsOf(() => new Set([tag])),
      );
  }

  /** The blocks hold this now, but after a power cut perhaps what they held before. */
  add(block: number, tags: readonly number[]): void {
    for (const [index, tag] of tags.entries()) {
      const sectors = this.#allowed.get(block + index) ?? sectorsOf(() => new Set([0]));
      for (const sector of sectors) {
        sector.delete(tag);
        sector.add(tag);
      }
      this.#allowed.set(block + index, sectors);
    }
  }

  /** Everything written is durable: only the last value is right from now on. */
  flushed(): void {
    for (const sectors of this.#allowed.values()) {
      for (const [index, sector] of sectors.entries()) sectors[index] = new Set([...sector].slice(-1));
    }
  }

  /** The content of the block is unknown; it must not be read until it is written again. */
  lose(block: number): void {
    this.#allowed.set(
      block,
      sectorsOf(() => new Set()),
    );
  }

  blocks(): number[] {
    return [...this.#allowed.keys()].sort((left, right) => left - right);
  }

  /** What was read must be one of the allowed values; with `keep` it is the only one from now on. */
  check(block: number, content: Buffer, keep = false): void {
    for (let index = 0; index * BLOCK_BYTES < content.length; index += 1) {
      const sectors = this.#allowed.get(block + index) ?? sectorsOf(() => new Set([0]));
      const found = sectors.map((sector, at) => {
        const start = index * BLOCK_BYTES + at * SECTOR_BYTES;
        const tag = tagOf(content.subarray(start, start + SECTOR_BYTES));
        const allowed = [...sector];
        assert.ok(
          tag !== undefined && sector.has(tag),
          `block ${block + index}, sector ${at} holds ${String(tag)}, not ${allowed.join(' or ')}`,
        );
        return tag;
      });
      if (keep)
        this.#allowed.set(
          block + index,
          found.map((tag) => new Set([tag])),
        );
    }
  }
}

function sectorsOf(make: () => Set<number>): Set<number>[] {
  return Array.from({ length: SECTORS }, make);
}

function tagOf(sector: Buffer): number | undefined {
  const tag = sector.readUInt32LE(0);
  const expected = Buffer.alloc(SECTOR_BYTES);
  if (tag !== 0) expected.fill(Buffer.from(Uint32Array.of(tag, tag ^ 0x5bd1e995).buffer));
  return sector.equals(expected) ? tag : undefined;
}
