import { type BlockDevice, StorageError } from '@granary/storage';

export const CHUNK_BYTES = 64 * 1024;

interface Chunk {
  readonly bytes: Buffer;
  /** By how many volumes and snapshots. */
  uses: number;
}

/** Counts the chunks of a pool. */
export interface ChunkAccount {
  readonly capacityBytes: number;
  usedBytes: number;
}

/** Bytes of a volume or snapshot, in chunks that they share until one of them writes. */
export class MemoryBytes implements BlockDevice {
  readonly readOnly = false;
  readonly #account: ChunkAccount;
  readonly #chunks = new Map<number, Chunk>();
  sizeBytes: number;

  constructor(account: ChunkAccount, sizeBytes: number) {
    this.#account = account;
    this.sizeBytes = sizeBytes;
  }

  /** Shares all chunks within a pool; in another pool they are copied. */
  copy(account = this.#account): MemoryBytes {
    const copy = new MemoryBytes(account, this.sizeBytes);
    for (const [index, chunk] of this.#chunks) {
      if (account === this.#account) {
        chunk.uses += 1;
        copy.#chunks.set(index, chunk);
      } else {
        chunk.bytes.copy(copy.#own(index));
      }
    }
    return copy;
  }

  /** Gives everything back to the pool. */
  clear(): void {
    for (const index of [...this.#chunks.keys()]) this.#drop(index);
  }

  read(offset: number, into: Buffer): undefined {
    this.#check(offset, into.length);
    for (const { index, at, start, end } of pieces(offset, into.length)) {
      const chunk = this.#chunks.get(index);
      if (chunk) chunk.bytes.copy(into, start, at, at + end - start);
      else into.fill(0, start, end);
    }
  }

  write(offset: number, from: Buffer): undefined {
    this.#check(offset, from.length);
    for (const { index, at, start, end } of pieces(offset, from.length)) from.copy(this.#own(index), at, start, end);
  }

  discard(offset: number, length: number): undefined {
    this.#check(offset, length);
    for (const { index, at, start, end } of pieces(offset, length)) {
      if (end - start === CHUNK_BYTES) this.#drop(index);
      else if (this.#chunks.has(index)) this.#own(index).fill(0, at, at + end - start);
    }
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  mapped(offset: number, length: number): { length: number; mapped: boolean }[] {
    return [...pieces(offset, length)].map(({ index, start, end }) => ({
      length: end - start,
      mapped: this.#chunks.has(index),
    }));
  }

  get usedBytes(): number {
    return this.#chunks.size * CHUNK_BYTES;
  }

  /** Chunks that differ from those of `other`, in order; all that hold data when there is none. */
  *differing(other: MemoryBytes | undefined): Generator<{ offset: number; mapped: boolean }> {
    const others = other ? other.#chunks : new Map<number, Chunk>();
    const indices = new Set([...this.#chunks.keys(), ...others.keys()]);
    for (const index of [...indices].toSorted((a, b) => a - b)) {
      const mine = this.#chunks.get(index);
      if (mine !== others.get(index)) yield { offset: index * CHUNK_BYTES, mapped: mine !== undefined };
    }
  }

  /** The chunk as one that only this may change. */
  #own(index: number): Buffer {
    const found = this.#chunks.get(index);
    if (found?.uses === 1) return found.bytes;
    if (this.#account.usedBytes + CHUNK_BYTES > this.#account.capacityBytes) {
      throw new StorageError('pool-full', 'The pool is full; delete something or expand it.');
    }
    const bytes = found ? Buffer.from(found.bytes) : Buffer.alloc(CHUNK_BYTES);
    this.#drop(index);
    this.#account.usedBytes += CHUNK_BYTES;
    this.#chunks.set(index, { bytes, uses: 1 });
    return bytes;
  }

  #drop(index: number): void {
    const chunk = this.#chunks.get(index);
    if (!chunk) return;
    chunk.uses -= 1;
    this.#chunks.delete(index);
    if (chunk.uses === 0) this.#account.usedBytes -= CHUNK_BYTES;
  }

  #check(offset: number, length: number): void {
    const isInside = offset >= 0 && length >= 0 && offset + length <= this.sizeBytes;
    if (!isInside) throw new StorageError('invalid', `${offset}+${length} is not within ${this.sizeBytes} bytes.`);
  }
}

/** A range, chunk by chunk: where in the chunk, and which part of the range. */
function* pieces(offset: number, length: number) {
  for (let start = 0; start < length;) {
    const index = Math.floor((offset + start) / CHUNK_BYTES);
    const at = offset + start - index * CHUNK_BYTES;
    const end = Math.min(length, start + CHUNK_BYTES - at);
    yield { index, at, start, end };
    start = end;
  }
}
