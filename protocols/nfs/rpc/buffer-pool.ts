const KEPT_MAX = 32;
/** Smaller ones come cheaply from Node itself. */
const SMALL_BYTES = 64 * 1024;

/**
 * Large buffers are used again: to make one for each transfer keeps the garbage collector busy for half of the time. A
 * buffer is recognized by its memory, so any view of it can be released, by its last user.
 */
export class BufferPool {
  readonly #bytes: number;
  readonly #free: Buffer[] = [];
  readonly #lent = new WeakMap<ArrayBufferLike, Buffer>();

  /** `bytes` is the size of its buffers; what is larger is not kept. */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** At least so large. */
  acquire(bytes: number): Buffer {
    if (bytes <= SMALL_BYTES || bytes > this.#bytes) return Buffer.allocUnsafe(bytes);
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
    this.#lent.set(buffer.buffer, buffer);
    return buffer;
  }

  /** It is not used any more. Has no effect on other buffers. */
  release(view: Buffer): void {
    const buffer = this.#lent.get(view.buffer);
    if (buffer === undefined) return;
    this.#lent.delete(view.buffer);
    if (this.#free.length < KEPT_MAX) this.#free.push(buffer);
  }

  /** It stays in use: it never comes back to the pool. */
  detach(view: Buffer): void {
    this.#lent.delete(view.buffer);
  }
}
