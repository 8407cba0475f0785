/** A thousand entries of a listing take half of it. */
const BUFFER_BYTES = 512 * 1024;
const KEPT_MAX = 4;
/** Of UTF-8, for a character of UTF-16. */
const CHARACTER_BYTES_MAX = 3;

/** A document as it is sent; after `release` its bytes may become another one's. */
export interface Document {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/**
 * Puts documents together in memory that is used again. A listing has hundreds of kilobytes: as one string, and again as
 * bytes, it would be fresh memory each time, which costs more than to fill it.
 */
export class Documents {
  readonly #free: Buffer[] = [];

  write(text: string | readonly string[]): Document {
    if (typeof text === 'string') return { bytes: Buffer.from(text), release: () => undefined };
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const release = (): void => {
      if (this.#free.length < KEPT_MAX) this.#free.push(buffer);
    };
    let length = 0;
    for (const piece of text) {
      if (length + piece.length * CHARACTER_BYTES_MAX > BUFFER_BYTES) {
        release();
        return this.write(text.join(''));
      }
      length += buffer.write(piece, length, 'utf8');
    }
    return { bytes: buffer.subarray(0, length), release };
  }
}
