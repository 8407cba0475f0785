import { crc32c } from './crc32c.ts';
import { DIGEST_BYTES, HEADER_BYTES } from './opcodes.ts';

/** How PDUs of a connection are laid out: with or without digests. Changes once, at the end of the login. */
export class FrameFormat {
  headerDigest = false;
  dataDigest = false;

  /** Where the data segment begins. */
  get dataOffset(): number {
    return this.headerDigest ? HEADER_BYTES + DIGEST_BYTES : HEADER_BYTES;
  }

  /** Bytes of the whole PDU on the wire. */
  frameBytes(dataLength: number): number {
    return this.dataOffset + dataLength + this.trailerBytes(dataLength);
  }

  /** Padding and digest behind the data. */
  trailerBytes(dataLength: number): number {
    if (dataLength === 0) return 0;
    return paddingOf(dataLength) + (this.dataDigest ? DIGEST_BYTES : 0);
  }

  /** Writes the length of the data into a header that stands at `at`, and its digest. */
  sealHeader(frame: Buffer, at: number, dataLength: number): void {
    frame[at + 5] = dataLength >>> 16;
    frame[at + 6] = dataLength >>> 8;
    frame[at + 7] = dataLength;
    if (this.headerDigest) frame.writeUInt32LE(crc32c(frame, at, at + HEADER_BYTES), at + HEADER_BYTES);
  }

  /** Finishes a frame at `at` that holds its data: padding and both digests. */
  seal(page: Buffer, at: number, dataLength: number): void {
    this.sealHeader(page, at, dataLength);
    if (dataLength === 0) return;
    const dataAt = at + this.dataOffset;
    const dataEnd = dataAt + dataLength;
    const paddedEnd = dataEnd + paddingOf(dataLength);
    if (paddedEnd > dataEnd) page.fill(0, dataEnd, paddedEnd);
    if (this.dataDigest) page.writeUInt32LE(crc32c(page, dataAt, paddedEnd), paddedEnd);
  }

  /** What follows data that is sent from where it lies; `undefined` when nothing does. */
  trailer(data: Buffer): Buffer | undefined {
    const length = this.trailerBytes(data.length);
    if (length === 0) return undefined;
    const trailer = Buffer.alloc(length);
    const padding = paddingOf(data.length);
    if (this.dataDigest) {
      trailer.writeUInt32LE(crc32c(trailer, 0, padding, crc32c(data)), padding);
    }
    return trailer;
  }
}

export function paddingOf(dataLength: number): number {
  return -dataLength & 3;
}
