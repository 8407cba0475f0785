import type { BufferSource } from '../xdr/writer.ts';

/** The peer does not speak the protocol, or means harm: its connection ends. */
export class RecordError extends Error {}

const MARK_BYTES = 4;
const LAST_FRAGMENT = 0x8000_0000;
const FRAGMENTS_MAX = 64;
/** Room for more is made when so many bytes have come, so that a length alone costs nothing. */
const FIRST_ROOM_BYTES = 64 * 1024;

/**
 * Takes records out of a stream of bytes (RFC 5531, record marking). Each is put together in memory of its own: the
 * chunks may be overwritten when `push` returns.
 */
export class RecordReader {
  readonly #recordBytesMax: number;
  readonly #record: (bytes: Buffer) => void;
  readonly #source: BufferSource | undefined;
  readonly #mark = Buffer.alloc(MARK_BYTES);
  #markBytes = 0;
  /** Of the fragment that is being read. */
  #missing = 0;
  #isLast = false;
  #fragments = 0;
  #gathered: Buffer | undefined;
  #gatheredBytes = 0;

  /** Large records lie in buffers of the source: the receiver of the record may release it. */
  constructor(recordBytesMax: number, record: (bytes: Buffer) => void, source?: BufferSource) {
    this.#recordBytesMax = recordBytesMax;
    this.#record = record;
    this.#source = source;
  }

  /** Whether part of a record has come and part has not. */
  get isWithin(): boolean {
    return this.#markBytes > 0 || this.#fragments > 0;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#missing === 0) {
        at = this.#readMark(chunk, at);
        continue;
      }
      const bytes = Math.min(this.#missing, chunk.length - at);
      this.#gather(chunk, at, bytes);
      at += bytes;
    }
  }

  #readMark(chunk: Buffer, at: number): number {
    const bytes = Math.min(MARK_BYTES - this.#markBytes, chunk.length - at);
    chunk.copy(this.#mark, this.#markBytes, at, at + bytes);
    this.#markBytes += bytes;
    if (this.#markBytes < MARK_BYTES) return at + bytes;
    this.#markBytes = 0;
    const mark = this.#mark.readUInt32BE(0);
    this.#isLast = (mark & LAST_FRAGMENT) !== 0;
    this.#missing = mark & ~LAST_FRAGMENT;
    this.#fragments += 1;
    if (this.#gatheredBytes + this.#missing > this.#recordBytesMax) throw new RecordError('the record is too large');
    if (this.#fragments > FRAGMENTS_MAX) throw new RecordError('the record has too many fragments');
    if (this.#missing === 0 && this.#isLast) this.#complete();
    return at + bytes;
  }

  #gather(chunk: Buffer, at: number, bytes: number): void {
    const needed = this.#gatheredBytes + bytes;
    const room = this.#gathered?.length ?? 0;
    if (needed > room) {
      const whole = this.#gatheredBytes + this.#missing;
      const wanted = Math.max(needed, room === 0 ? Math.min(whole, FIRST_ROOM_BYTES) : whole);
      const larger = this.#source?.acquire(wanted) ?? Buffer.allocUnsafe(wanted);
      this.#gathered?.copy(larger, 0, 0, this.#gatheredBytes);
      if (this.#gathered !== undefined) this.#source?.release(this.#gathered);
      this.#gathered = larger;
    }
    chunk.copy(this.#gathered as Buffer, this.#gatheredBytes, at, at + bytes);
    this.#gatheredBytes = needed;
    this.#missing -= bytes;
    if (this.#missing === 0 && this.#isLast) this.#complete();
  }

  #complete(): void {
    const record = (this.#gathered ?? this.#mark).subarray(0, this.#gatheredBytes);
    this.#end();
    this.#record(record);
  }

  #end(): void {
    this.#missing = 0;
    this.#fragments = 0;
    this.#gathered = undefined;
    this.#gatheredBytes = 0;
  }
}
