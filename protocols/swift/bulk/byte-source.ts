/** Bytes that come in pieces of any size, taken in pieces of a wanted size. */
export class ByteSource {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #left: Uint8Array = new Uint8Array(0);

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  /** Whatever is there, at most `limit` bytes; undefined at the end. */
  async some(limit: number): Promise<Uint8Array | undefined> {
    while (this.#left.length === 0) {
      const next = await this.#iterator.next();
      if (next.done === true) return undefined;
      this.#left = next.value;
    }
    const taken = this.#left.subarray(0, limit);
    this.#left = this.#left.subarray(taken.length);
    return taken;
  }

  /** Exactly `length` bytes, or fewer at the end. */
  async exactly(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    let missing = length;
    while (missing > 0) {
      const piece = await this.some(missing);
      if (piece === undefined) break;
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** Nothing more is wanted. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
