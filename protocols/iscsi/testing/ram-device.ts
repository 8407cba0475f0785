import type { BlockDevice } from '../../../storage/block-device.ts';

const MAPPED_BYTES = 4096;

/** A thin device in memory, for tests of what stands on a device. */
export class RamDevice implements BlockDevice {
  readonly sizeBytes: number;
  readonly readOnly: boolean;
  flushes = 0;
  readonly #bytes: Buffer;
  readonly #mapped: Uint8Array;

  constructor(sizeBytes: number, { readOnly = false } = {}) {
    this.sizeBytes = sizeBytes;
    this.readOnly = readOnly;
    this.#bytes = Buffer.alloc(sizeBytes);
    this.#mapped = new Uint8Array(Math.ceil(sizeBytes / MAPPED_BYTES));
  }

  read(offset: number, into: Buffer): undefined {
    this.#bytes.copy(into, 0, offset, offset + into.length);
  }

  write(offset: number, from: Buffer): undefined {
    from.copy(this.#bytes, offset);
    this.#mapped.fill(1, Math.floor(offset / MAPPED_BYTES), Math.ceil((offset + from.length) / MAPPED_BYTES));
  }

  async flush(): Promise<void> {
    this.flushes += 1;
  }

  discard(offset: number, length: number): undefined {
    this.#bytes.fill(0, offset, offset + length);
    this.#mapped.fill(0, Math.ceil(offset / MAPPED_BYTES), Math.floor((offset + length) / MAPPED_BYTES));
  }

  mapped(offset: number, length: number): { readonly length: number; readonly mapped: boolean }[] {
    const parts: { length: number; mapped: boolean }[] = [];
    for (let at = offset; at < offset + length;) {
      const block = Math.floor(at / MAPPED_BYTES);
      const end = Math.min((block + 1) * MAPPED_BYTES, offset + length);
      const mapped = this.#mapped[block] === 1;
      const last = parts[parts.length - 1];
      if (last?.mapped === mapped) last.length += end - at;
      else parts.push({ length: end - at, mapped });
      at = end;
    }
    return parts;
  }
}
