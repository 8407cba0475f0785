export interface MemoryEntry {
  readonly name: Buffer;
  readonly inode: number;
  readonly cookie: bigint;
}

const FIRST_COOKIE = 3n;

/** Names in the order in which they were made: a cookie is the number of an entry and never used again. */
export class MemoryDirectory {
  readonly #byName = new Map<string, MemoryEntry>();
  readonly #ordered: MemoryEntry[] = [];
  #nextCookie = FIRST_COOKIE;

  get size(): number {
    return this.#byName.size;
  }

  get(name: Buffer): MemoryEntry | undefined {
    return this.#byName.get(name.toString('latin1'));
  }

  set(name: Buffer, inode: number): void {
    this.delete(name);
    const entry = { name: Buffer.from(name), inode, cookie: this.#nextCookie++ };
    this.#byName.set(name.toString('latin1'), entry);
    this.#ordered.push(entry);
  }

  delete(name: Buffer): void {
    const entry = this.get(name);
    if (entry === undefined) return;
    this.#byName.delete(name.toString('latin1'));
    this.#ordered.splice(this.#firstAfter(entry.cookie - 1n), 1);
  }

  after(cookie: bigint, count: number): MemoryEntry[] {
    const start = this.#firstAfter(cookie);
    return this.#ordered.slice(start, start + count);
  }

  #firstAfter(cookie: bigint): number {
    let low = 0;
    let high = this.#ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ordered[middle]?.cookie ?? 0n) <= cookie) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
