import { crc32c } from './crc32c.ts';
import { paddingOf, type FrameFormat } from './frame.ts';
import { DIGEST_BYTES, HEADER_BYTES } from './opcodes.ts';

/** What came is not iSCSI, or not what was agreed. It ends the connection it came from. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}

export interface PduSink {
  /** Where the data segment goes, exactly as long as it is; `undefined` when it may stay where it was received. */
  destination(header: Buffer, dataLength: number): Buffer | undefined;
  /** A whole PDU. The header is only valid during the call; so is `data`, when it has no destination of its own. */
  pdu(header: Buffer, data: Buffer): void;
}

const EMPTY = Buffer.alloc(0);
const AHS_BYTES_MAX = 255 * 4;
const TRAILER_BYTES_MAX = 3 + DIGEST_BYTES;

/** Cuts a stream of bytes into PDUs. Data that lies whole in a chunk is handed on without a copy. */
export class PduReceiver {
  /** The longest data segment we said we would take. */
  dataLengthMax: number;

  readonly #sink: PduSink;
  readonly #format: FrameFormat;
  readonly #header = Buffer.alloc(HEADER_BYTES + AHS_BYTES_MAX + DIGEST_BYTES);
  readonly #trailer = Buffer.alloc(TRAILER_BYTES_MAX);
  #headerNeeded = HEADER_BYTES;
  #headerFilled = 0;
  #data: Buffer | undefined;
  /** For data without a destination that comes in several chunks: it is done with before more is received. */
  #spare = EMPTY;
  #dataLength = 0;
  #dataFilled = 0;
  #trailerNeeded = 0;
  #trailerFilled = 0;
  #stopped = false;

  constructor(sink: PduSink, format: FrameFormat, dataLengthMax: number) {
    this.#sink = sink;
    this.#format = format;
    this.dataLengthMax = dataLengthMax;
  }

  /** Nothing that comes from now on is looked at, not even the rest of the chunk at hand. */
  stop(): void {
    this.#stopped = true;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#stopped) {
      if (this.#headerFilled < this.#headerNeeded) {
        at = this.#receiveHeader(chunk, at);
        continue;
      }
      if (this.#dataFilled < this.#dataLength) at = this.#receiveData(chunk, at);
      if (this.#dataFilled === this.#dataLength && this.#trailerFilled < this.#trailerNeeded) {
        at = this.#receiveTrailer(chunk, at);
      }
      if (this.#dataFilled === this.#dataLength && this.#trailerFilled === this.#trailerNeeded) this.#finish();
    }
  }

  #receiveHeader(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#headerNeeded - this.#headerFilled);
    chunk.copy(this.#header, this.#headerFilled, at, end);
    this.#headerFilled += end - at;
    if (this.#headerFilled < this.#headerNeeded) return end;
    if (this.#headerFilled === HEADER_BYTES) {
      const additional = (this.#header[4] ?? 0) * 4 + (this.#format.headerDigest ? DIGEST_BYTES : 0);
      this.#headerNeeded = HEADER_BYTES + additional;
      if (additional > 0) return end;
    }
    this.#startData(chunk, end);
    return end;
  }

  #startData(chunk: Buffer, at: number): void {
    const header = this.#header;
    if (this.#format.headerDigest) {
      const digestAt = this.#headerNeeded - DIGEST_BYTES;
      if (crc32c(header, 0, digestAt) !== header.readUInt32LE(digestAt)) {
        throw new ProtocolError('the digest of a header does not match');
      }
    }
    const dataLength = header.readUIntBE(5, 3);
    if (dataLength > this.dataLengthMax) {
      throw new ProtocolError(`a data segment of ${dataLength} bytes is longer than the ${this.dataLengthMax} agreed`);
    }
    this.#dataLength = dataLength;
    if (dataLength === 0) {
      this.#data = EMPTY;
      this.#finish();
      return;
    }
    this.#trailerNeeded = this.#format.trailerBytes(dataLength);
    this.#data = this.#sink.destination(header, dataLength);
    if (this.#data !== undefined) return;
    // What follows the data is part of it: more would be received over the data while that is waited for.
    if (at + dataLength + this.#trailerNeeded > chunk.length) {
      // Memory of its own for each would keep the garbage collector busy for a third of the time.
      if (this.#spare.length < dataLength) this.#spare = Buffer.allocUnsafeSlow(dataLength);
      this.#data = this.#spare.subarray(0, dataLength);
      return;
    }
    this.#data = chunk.subarray(at, at + dataLength);
  }

  #receiveData(chunk: Buffer, at: number): number {
    const data = this.#data ?? EMPTY;
    const end = Math.min(chunk.length, at + this.#dataLength - this.#dataFilled);
    // A view of this very chunk is in place already.
    if (data.buffer !== chunk.buffer || data.byteOffset !== chunk.byteOffset + at) {
      chunk.copy(data, this.#dataFilled, at, end);
    }
    this.#dataFilled += end - at;
    return end;
  }

  #receiveTrailer(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#trailerNeeded - this.#trailerFilled);
    chunk.copy(this.#trailer, this.#trailerFilled, at, end);
    this.#trailerFilled += end - at;
    return end;
  }

  #finish(): void {
    const data = this.#data ?? EMPTY;
    const dataLength = this.#dataLength;
    if (this.#format.dataDigest && dataLength > 0) {
      const padding = paddingOf(dataLength);
      if (crc32c(this.#trailer, 0, padding, crc32c(data)) !== this.#trailer.readUInt32LE(padding)) {
        throw new ProtocolError('the digest of a data segment does not match');
      }
    }
    this.#data = undefined;
    this.#dataLength = this.#dataFilled = 0;
    this.#trailerNeeded = this.#trailerFilled = 0;
    this.#headerFilled = 0;
    this.#headerNeeded = HEADER_BYTES;
    this.#sink.pdu(this.#header, data);
  }
}
