/** Where the bytes of reads and writes live while they are on their way. */
export interface BufferSource {
  allocate(bytes: number): Buffer;
  /** Takes back the very buffer that `allocate` gave. */
  release(buffer: Buffer): void;
}

const KEPT_SIZE_MIN = 64 * 1024;
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

/** Keeps large buffers for the next request of that size: the system takes longer to give fresh memory than to fill it. */
export class KeptBuffers implements BufferSource {
  readonly #kept = new Map<number, Buffer[]>();
  #keptBytes = 0;

  allocate(bytes: number): Buffer {
    if (bytes < KEPT_SIZE_MIN) return Buffer.allocUnsafe(bytes);
    const buffer = this.#kept.get(bytes)?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(bytes);
    this.#keptBytes -= bytes;
    return buffer;
  }

  release(buffer: Buffer): void {
    const bytes = buffer.length;
    if (bytes < KEPT_SIZE_MIN) return;
    if (this.#keptBytes + bytes > KEPT_BYTES_MAX) {
      // Sizes that are no longer requested must not keep others out.
      this.#kept.clear();
      this.#keptBytes = 0;
    }
    const sameSize = this.#kept.get(bytes);
    if (sameSize === undefined) this.#kept.set(bytes, [buffer]);
    else sameSize.push(buffer);
    this.#keptBytes += bytes;
  }
}
