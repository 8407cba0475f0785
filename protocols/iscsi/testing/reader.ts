import { crc32c } from './crc32c.ts';
import { InitiatorProtocolError } from './errors.ts';
import { get24, HEADER_BYTES, paddingOf } from './wire.ts';

const ADDITIONAL_HEADER_BYTES_MAX = 255 * 4;

/** Who gets the PDUs. Both may throw; that ends the connection. */
export interface PduSink {
  /** Says where the data segment goes by setting `destination` and `destinationAt`; else it goes to `scratch`. */
  place(header: Buffer, dataLength: number, reader: Reader): void;
  received(header: Buffer, dataLength: number, reader: Reader): void;
}

/** Cuts the stream into PDUs. Data segments are copied once: to where the sink wants them. */
export class Reader {
  headerDigest = false;
  dataDigest = false;
  dataBytesMax: number;
  sink: PduSink;
  /** Where data segments go that belong to no task. */
  readonly scratch: Buffer;
  destination: Buffer;
  destinationAt = 0;
  readonly #header = Buffer.alloc(HEADER_BYTES + ADDITIONAL_HEADER_BYTES_MAX + 4);
  readonly #trailer = Buffer.alloc(8);
  #headerHave = 0;
  #headerNeed = HEADER_BYTES;
  #dataLength = 0;
  #dataHave = 0;
  #dataCrc = 0;
  #trailerHave = 0;
  #trailerNeed = 0;

  constructor(sink: PduSink, dataBytesMax: number) {
    this.sink = sink;
    this.dataBytesMax = dataBytesMax;
    this.scratch = Buffer.allocUnsafeSlow(dataBytesMax);
    this.destination = this.scratch;
  }

  push(chunk: Buffer, length: number): void {
    let at = 0;
    while (at < length) {
      if (this.#headerHave < this.#headerNeed) at = this.#receiveHeader(chunk, at, length);
      else if (this.#dataHave < this.#dataLength) at = this.#receiveData(chunk, at, length);
      else at = this.#receiveTrailer(chunk, at, length);
    }
  }

  #receiveHeader(chunk: Buffer, at: number, end: number): number {
    const taken = Math.min(this.#headerNeed - this.#headerHave, end - at);
    chunk.copy(this.#header, this.#headerHave, at, at + taken);
    this.#headerHave += taken;
    if (this.#headerHave < this.#headerNeed) return at + taken;
    if (this.#headerNeed === HEADER_BYTES) {
      this.#headerNeed += (this.#header[4] as number) * 4 + (this.headerDigest ? 4 : 0);
      if (this.#headerNeed > HEADER_BYTES) return at + taken;
    }
    this.#beginData();
    return at + taken;
  }

  #beginData(): void {
    const header = this.#header;
    const plain = HEADER_BYTES + (header[4] as number) * 4;
    if (this.headerDigest && header.readUInt32LE(plain) !== crc32c(header, 0, plain)) {
      throw new InitiatorProtocolError('A header from the target does not match its digest');
    }
    const length = get24(header, 5);
    if (length > this.dataBytesMax) {
      throw new InitiatorProtocolError(
        `The target sent a data segment of ${length} bytes; we declared ${this.dataBytesMax}`,
      );
    }
    this.#dataLength = length;
    if (length === 0) {
      this.#end();
      return;
    }
    this.#dataCrc = 0;
    this.#trailerNeed = paddingOf(length) + (this.dataDigest ? 4 : 0);
    this.destination = this.scratch;
    this.destinationAt = 0;
    this.sink.place(header, length, this);
  }

  #receiveData(chunk: Buffer, at: number, end: number): number {
    const taken = Math.min(this.#dataLength - this.#dataHave, end - at);
    chunk.copy(this.destination, this.destinationAt + this.#dataHave, at, at + taken);
    if (this.dataDigest) this.#dataCrc = crc32c(chunk, at, at + taken, this.#dataCrc);
    this.#dataHave += taken;
    if (this.#dataHave === this.#dataLength && this.#trailerNeed === 0) this.#end();
    return at + taken;
  }

  #receiveTrailer(chunk: Buffer, at: number, end: number): number {
    const taken = Math.min(this.#trailerNeed - this.#trailerHave, end - at);
    chunk.copy(this.#trailer, this.#trailerHave, at, at + taken);
    this.#trailerHave += taken;
    if (this.#trailerHave < this.#trailerNeed) return at + taken;
    const padding = paddingOf(this.#dataLength);
    const crc = crc32c(this.#trailer, 0, padding, this.#dataCrc);
    if (this.dataDigest && this.#trailer.readUInt32LE(padding) !== crc) {
      throw new InitiatorProtocolError('A data segment from the target does not match its digest');
    }
    this.#end();
    return at + taken;
  }

  #end(): void {
    const length = this.#dataLength;
    this.#headerHave = 0;
    this.#headerNeed = HEADER_BYTES;
    this.#dataLength = 0;
    this.#dataHave = 0;
    this.#trailerHave = 0;
    this.#trailerNeed = 0;
    this.sink.received(this.#header, length, this);
  }
}
