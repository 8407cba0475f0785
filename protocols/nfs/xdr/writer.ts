import { ownCopy } from './own-copy.ts';
import { padded } from './reader.ts';

const TWO_32 = 2 ** 32;
const INITIAL_BYTES = 512;

/** Where large buffers come from, and may be left when they are too small. */
export interface BufferSource {
  acquire(bytes: number): Buffer;
  release(buffer: Buffer): void;
}

/** Writes what RFC 4506 describes into one buffer that grows. */
export class XdrWriter {
  #bytes: Buffer;
  /** Of the same bytes: numbers are written a word at a time by it. */
  #view: DataView;
  #at = 0;

  readonly #source: BufferSource | undefined;

  /** Large buffers come from the source; `bytes` may then be given back to it. */
  constructor(initialBytes = INITIAL_BYTES, source?: BufferSource) {
    this.#bytes = Buffer.allocUnsafe(initialBytes);
    this.#view = viewOf(this.#bytes);
    this.#source = source;
  }

  get length(): number {
    return this.#at;
  }

  /** What was written so far; a view that is valid until the next write. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** A copy of what was written from `start` on. */
  copyFrom(start: number): Buffer {
    return ownCopy(this.#bytes.subarray(start, this.#at));
  }

  /** Forgets what was written after `length`. */
  truncate(length: number): void {
    this.#at = Math.min(this.#at, length);
  }

  u32(value: number): this {
    const at = this.#extend(4);
    this.#view.setUint32(at, value);
    return this;
  }

  setU32(at: number, value: number): void {
    this.#view.setUint32(at, value);
  }

  i32(value: number): this {
    const at = this.#extend(4);
    this.#view.setInt32(at, value);
    return this;
  }

  bool(value: boolean): this {
    return this.u32(value ? 1 : 0);
  }

  u64(value: bigint): this {
    const at = this.#extend(8);
    this.#view.setBigUint64(at, value);
    return this;
  }

  /** A whole number of at most 2^53; negative ones in two's complement. */
  size(value: number): this {
    const at = this.#extend(8);
    const high = Math.floor(value / TWO_32);
    this.#view.setInt32(at, high);
    this.#view.setUint32(at + 4, value - high * TWO_32);
    return this;
  }

  fixed(value: Uint8Array): this {
    const at = this.#extend(padded(value.length));
    this.#bytes.set(value, at);
    this.#pad(at + value.length);
    return this;
  }

  opaque(value: Uint8Array): this {
    return this.u32(value.length).fixed(value);
  }

  text(value: string): this {
    const length = Buffer.byteLength(value);
    const at = this.u32(length).#extend(padded(length));
    this.#bytes.write(value, at, length, 'utf8');
    this.#pad(at + length);
    return this;
  }

  array<T>(elements: readonly T[], write: (element: T) => void): this {
    this.u32(elements.length);
    for (const element of elements) write(element);
    return this;
  }

  optional<T>(value: T | undefined, write: (value: T) => void): this {
    this.bool(value !== undefined);
    if (value !== undefined) write(value);
    return this;
  }

  /**
   * Room for up to `length` bytes of opaque data that the caller fills in, with its length before it. The view is
   * valid until the next write. `endOpaque` then says how many there are.
   */
  beginOpaque(length: number): Buffer {
    const at = this.#extend(4 + padded(length));
    return this.#bytes.subarray(at + 4, at + 4 + length);
  }

  /** `reserved` is what `beginOpaque` was asked for. */
  endOpaque(reserved: number, length: number): void {
    const start = this.#at - padded(reserved);
    this.#view.setUint32(start - 4, length);
    this.#at = start + padded(length);
    this.#pad(start + length);
  }

  /** Zeroes from the end of what is written to the next word. */
  #pad(from: number): void {
    for (let at = from; at < this.#at; at += 1) this.#bytes[at] = 0;
  }

  #extend(bytes: number): number {
    const at = this.#at;
    const end = at + bytes;
    if (end > this.#bytes.length) {
      const bytes = Math.max(end, this.#bytes.length * 2);
      const larger = this.#source?.acquire(bytes) ?? Buffer.allocUnsafe(bytes);
      this.#bytes.copy(larger, 0, 0, at);
      this.#source?.release(this.#bytes);
      this.#bytes = larger;
      this.#view = viewOf(larger);
    }
    this.#at = end;
    return at;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
