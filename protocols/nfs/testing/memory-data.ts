const CHUNK_BYTES = 64 * 1024;

/** Bytes of a file, with room only for what was written. */
export class MemoryData {
  readonly #chunks = new Map<number, Buffer>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get allocatedBytes(): number {
    return this.#chunks.size * CHUNK_BYTES;
  }

  read(offset: number, into: Buffer): number {
    const length = Math.max(0, Math.min(into.length, this.#size - offset));
    for (let done = 0; done < length;) {
      const at = (offset + done) % CHUNK_BYTES;
      const bytes = Math.min(CHUNK_BYTES - at, length - done);
      const chunk = this.#chunks.get(Math.floor((offset + done) / CHUNK_BYTES));
      if (chunk === undefined) into.fill(0, done, done + bytes);
      else chunk.copy(into, done, at, at + bytes);
      done += bytes;
    }
    return length;
  }

  write(offset: number, data: Buffer): void {
    for (let done = 0; done < data.length;) {
      const index = Math.floor((offset + done) / CHUNK_BYTES);
      const at = (offset + done) % CHUNK_BYTES;
      const bytes = Math.min(CHUNK_BYTES - at, data.length - done);
      let chunk = this.#chunks.get(index);
      if (chunk === undefined) this.#chunks.set(index, (chunk = Buffer.alloc(CHUNK_BYTES)));
      data.copy(chunk, at, done, done + bytes);
      done += bytes;
    }
    if (data.length > 0) this.#size = Math.max(this.#size, offset + data.length);
  }

  truncate(size: number): void {
    if (size < this.#size) {
      const last = Math.floor(size / CHUNK_BYTES);
      for (const index of [...this.#chunks.keys()]) if (index > last) this.#chunks.delete(index);
      this.#chunks.get(last)?.fill(0, size % CHUNK_BYTES);
    }
    this.#size = size;
  }
}
