/** Arguments that do not follow the protocol's own description of them. */
export class XdrError extends Error {}

const TWO_32 = 2 ** 32;

/** Reads what RFC 4506 describes: everything in units of four bytes, big-endian. Never reads beyond its bytes. */
export class XdrReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get offset(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  bool(): boolean {
    const value = this.u32();
    if (value > 1) throw new XdrError(`${value} is no boolean`);
    return value === 1;
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#advance(8));
  }

  /** As a number: exact up to 2^53, which is more than any file has; larger values stay large. */
  size(): number {
    const at = this.#advance(8);
    return this.#bytes.readUInt32BE(at) * TWO_32 + this.#bytes.readUInt32BE(at + 4);
  }

  i64AsNumber(): number {
    const at = this.#advance(8);
    return this.#bytes.readInt32BE(at) * TWO_32 + this.#bytes.readUInt32BE(at + 4);
  }

  /** A view, not a copy. */
  fixed(length: number): Buffer {
    const at = this.#advance(padded(length));
    return this.#bytes.subarray(at, at + length);
  }

  /** A view, not a copy. */
  opaque(lengthMax: number): Buffer {
    const length = this.u32();
    if (length > lengthMax) throw new XdrError(`${length} bytes where ${lengthMax} are allowed`);
    return this.fixed(length);
  }

  text(lengthMax: number): string {
    return this.opaque(lengthMax).toString('utf8');
  }

  /** At most `countMax` elements, and never more than there are bytes for. */
  array<T>(countMax: number, element: (reader: XdrReader) => T): T[] {
    const count = this.u32();
    if (count > countMax || count * 4 > this.remaining) throw new XdrError(`${count} elements are too many`);
    const elements: T[] = [];
    for (let index = 0; index < count; index++) elements.push(element(this));
    return elements;
  }

  optional<T>(value: (reader: XdrReader) => T): T | undefined {
    return this.bool() ? value(this) : undefined;
  }

  #advance(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#bytes.length - at) throw new XdrError('the message ends too early');
    this.#at = at + bytes;
    return at;
  }
}

export function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}
