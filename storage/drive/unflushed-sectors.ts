import { SECTOR_BYTES } from '../units.ts';

/**
 * Writes that a drive accepted and has not made durable. Every version of a sector is kept in order, because after a
 * power cut any one of them may have reached the medium.
 */
export class UnflushedSectors {
  readonly #versions = new Map<number, Buffer[]>();

  get size(): number {
    return this.#versions.size;
  }

  put(offset: number, from: Buffer): void {
    for (let at = 0; at < from.length; at += SECTOR_BYTES) {
      const sector = (offset + at) / SECTOR_BYTES;
      const content = Buffer.from(from.subarray(at, at + SECTOR_BYTES));
      const versions = this.#versions.get(sector);
      if (versions === undefined) this.#versions.set(sector, [content]);
      else versions.push(content);
    }
  }

  /** The newest versions in a range, with their offsets. */
  newest(offset: number, length: number): { at: number; content: Buffer }[] {
    const found: { at: number; content: Buffer }[] = [];
    for (let at = 0; at < length && this.#versions.size > 0; at += SECTOR_BYTES) {
      const content = this.#versions.get((offset + at) / SECTOR_BYTES)?.at(-1);
      if (content !== undefined) found.push({ at, content });
    }
    return found;
  }

  /** Lays the newest versions over bytes read from the inner drive. */
  overlay(offset: number, into: Buffer): void {
    for (const { at, content } of this.newest(offset, into.length)) content.copy(into, at);
  }

  sectors(): { sector: number; versions: readonly Buffer[] }[] {
    return [...this.#versions].map(([sector, versions]) => ({ sector, versions: [...versions] }));
  }

  /** Drops the oldest versions of a sector: a newer one is on the inner drive. */
  markFlushed(sector: number, count: number): void {
    const versions = this.#versions.get(sector);
    if (versions === undefined) return;
    versions.splice(0, count);
    if (versions.length === 0) this.#versions.delete(sector);
  }

  clear(): void {
    this.#versions.clear();
  }
}
