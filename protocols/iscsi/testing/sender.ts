import type { Socket } from 'node:net';
import { crc32c } from './crc32c.ts';
import { HEADER_BYTES, paddingOf } from './wire.ts';

const CHUNK_BYTES = 128 * 1024;
/** Up to here copying is cheaper than one more piece to write. */
const COPY_BYTES_MAX = 16 * 1024;
const FREE_CHUNKS_MAX = 16;
const NOTHING = Buffer.alloc(0);

/**
 * Gathers the PDUs of one turn of the event loop into few large writes. The caller fills `header` and calls `send`.
 * Data that is not copied must stay as it is until the command has its answer.
 */
export class Sender {
  readonly header = Buffer.alloc(HEADER_BYTES);
  headerDigest = false;
  dataDigest = false;
  readonly #socket: Socket;
  readonly #free: Buffer[] = [];
  #chunk: Buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #start = 0;
  #used = 0;
  #pieces: Buffer[] = [];
  #full: Buffer[] = [];
  #scheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  send(data: Buffer = NOTHING, from = 0, to: number = data.length): void {
    const length = to - from;
    const { header } = this;
    header[5] = length >>> 16;
    header[6] = length >>> 8;
    header[7] = length;
    this.#room(HEADER_BYTES + 4);
    header.copy(this.#chunk, this.#used);
    this.#used += HEADER_BYTES;
    if (this.headerDigest) this.#digest(crc32c(header, 0, HEADER_BYTES));
    if (length > 0) this.#data(data, from, to);
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => this.flush());
  }

  #data(data: Buffer, from: number, to: number): void {
    const length = to - from;
    if (length > COPY_BYTES_MAX) {
      this.#cut();
      this.#pieces.push(data.subarray(from, to));
      this.#room(8);
    } else {
      this.#room(length + 8);
      data.copy(this.#chunk, this.#used, from, to);
      this.#used += length;
    }
    const padding = paddingOf(length);
    this.#chunk.fill(0, this.#used, this.#used + padding);
    this.#used += padding;
    if (this.dataDigest) this.#digest(crc32c(PADDING, 0, padding, crc32c(data, from, to)));
  }

  /** Writes now what was gathered. */
  flush(): void {
    this.#scheduled = false;
    this.#cut();
    const pieces = this.#pieces;
    if (pieces.length === 0 || this.#socket.destroyed) return;
    const chunks = [...this.#full, this.#chunk];
    const written = () => {
      for (const chunk of chunks) if (this.#free.length < FREE_CHUNKS_MAX) this.#free.push(chunk);
    };
    this.#pieces = [];
    this.#full = [];
    this.#next();
    if (pieces.length > 1) this.#socket.cork();
    pieces.forEach((piece, index) => {
      if (index === pieces.length - 1) this.#socket.write(piece, written);
      else this.#socket.write(piece);
    });
    if (pieces.length > 1) this.#socket.uncork();
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= CHUNK_BYTES) return;
    this.#cut();
    this.#full.push(this.#chunk);
    this.#next();
  }

  #next(): void {
    this.#chunk = this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.#start = 0;
    this.#used = 0;
  }

  #cut(): void {
    if (this.#used > this.#start) this.#pieces.push(this.#chunk.subarray(this.#start, this.#used));
    this.#start = this.#used;
  }

  #digest(crc: number): void {
    this.#chunk.writeUInt32LE(crc, this.#used);
    this.#used += 4;
  }
}

const PADDING = Buffer.alloc(4);
