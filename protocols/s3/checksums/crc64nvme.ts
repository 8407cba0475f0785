/** Reflected, as two halves. */
const POLYNOMIAL_HIGH = 0x9a6c9329;
const POLYNOMIAL_LOW = 0xac4bc9b5;
const STEP_BYTES = 8;
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
/** From here on it pays to look at the bytes as words. */
const WORDS_PAY_BYTES = LITTLE_ENDIAN ? 64 : Infinity;

/** Eight tables one after the other, in two halves: entry `256 * n + byte` advances by `byte` and n zero bytes. */
const LOW = new Int32Array(STEP_BYTES * 256);
const HIGH = new Int32Array(STEP_BYTES * 256);
fillTables();

function fillTables(): void {
  for (let byte = 0; byte < 256; byte++) {
    let low = byte;
    let high = 0;
    for (let bit = 0; bit < 8; bit++) {
      const odd = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (odd) {
        low ^= POLYNOMIAL_LOW;
        high ^= POLYNOMIAL_HIGH;
      }
    }
    LOW[byte] = low;
    HIGH[byte] = high;
  }
  for (let entry = 256; entry < LOW.length; entry++) {
    const low = LOW[entry - 256] ?? 0;
    const high = HIGH[entry - 256] ?? 0;
    LOW[entry] = ((low >>> 8) | (high << 24)) ^ (LOW[low & 0xff] ?? 0);
    HIGH[entry] = (high >>> 8) ^ (HIGH[low & 0xff] ?? 0);
  }
}

/** CRC-64/NVME of bytes that come in pieces. */
export class Crc64Nvme {
  #low = -1;
  #high = -1;

  update(bytes: Uint8Array): void {
    if (bytes.length < WORDS_PAY_BYTES) {
      this.#byBytes(bytes, 0, bytes.length);
      return;
    }
    const wordsAt = -bytes.byteOffset & 3;
    const steps = Math.floor((bytes.length - wordsAt) / STEP_BYTES);
    this.#byBytes(bytes, 0, wordsAt);
    this.#byWords(new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, steps * 2));
    this.#byBytes(bytes, wordsAt + steps * STEP_BYTES, bytes.length);
  }

  /** Big-endian, as checksums are written. */
  digest(): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeInt32BE(~this.#high, 0);
    bytes.writeInt32BE(~this.#low, 4);
    return bytes;
  }

  // Indices below are inside the tables by their masks, and inside the data by the loops' conditions.
  /* oxlint-disable typescript/no-non-null-assertion */
  #byBytes(bytes: Uint8Array, start: number, end: number): void {
    let low = this.#low;
    let high = this.#high;
    for (let at = start; at < end; at++) {
      const entry = (low ^ bytes[at]!) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ LOW[entry]!;
      high = (high >>> 8) ^ HIGH[entry]!;
    }
    this.#low = low;
    this.#high = high;
  }

  /** Eight bytes a step. */
  #byWords(words: Int32Array): void {
    const l = LOW;
    const h = HIGH;
    let low = this.#low;
    let high = this.#high;
    for (let at = 0; at < words.length; at += 2) {
      const a = words[at]! ^ low;
      const b = words[at + 1]! ^ high;
      const i0 = 1792 + (a & 0xff);
      const i1 = 1536 + ((a >>> 8) & 0xff);
      const i2 = 1280 + ((a >>> 16) & 0xff);
      const i3 = 1024 + (a >>> 24);
      const i4 = 768 + (b & 0xff);
      const i5 = 512 + ((b >>> 8) & 0xff);
      const i6 = 256 + ((b >>> 16) & 0xff);
      const i7 = b >>> 24;
      low = l[i0]! ^ l[i1]! ^ l[i2]! ^ l[i3]! ^ l[i4]! ^ l[i5]! ^ l[i6]! ^ l[i7]!;
      high = h[i0]! ^ h[i1]! ^ h[i2]! ^ h[i3]! ^ h[i4]! ^ h[i5]! ^ h[i6]! ^ h[i7]!;
    }
    this.#low = low;
    this.#high = high;
  }
  /* oxlint-enable typescript/no-non-null-assertion */
}
