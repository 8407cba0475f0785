const HIGH = 2 ** 32;
const KIND_SHIFT = 24;
const HIGH_BITS = 2 ** KIND_SHIFT - 1;

/**
 * The key of an item as four words that compare in order: inode (two words), kind with the upper part of the offset,
 * and the rest of the offset. Mutable: a tree has one and fills it for each request, so that a lookup allocates
 * nothing.
 */
export class Key {
  a = 0;
  b = 0;
  c = 0;
  d = 0;

  set(inode: number, kind: number, offset: number): this {
    this.a = Math.floor(inode / HIGH);
    this.b = inode >>> 0;
    this.c = ((kind << KIND_SHIFT) | Math.floor(offset / HIGH)) >>> 0;
    this.d = offset >>> 0;
    return this;
  }

  setWords(words: Uint32Array, at: number): this {
    this.a = words[at] as number;
    this.b = words[at + 1] as number;
    this.c = words[at + 2] as number;
    this.d = words[at + 3] as number;
    return this;
  }

  get inode(): number {
    return this.a * HIGH + this.b;
  }

  get kind(): number {
    return this.c >>> KIND_SHIFT;
  }

  get offset(): number {
    return (this.c & HIGH_BITS) * HIGH + this.d;
  }

  /** Whether an item belongs to the same inode and has the same kind. */
  isBeside(words: Uint32Array, at: number): boolean {
    return this.a === words[at] && this.b === words[at + 1] && this.kind === (words[at + 2] as number) >>> KIND_SHIFT;
  }
}

/** The offset part of a key that is in a node. */
export function offsetAt(words: Uint32Array, at: number): number {
  return ((words[at + 2] as number) & HIGH_BITS) * HIGH + (words[at + 3] as number);
}
