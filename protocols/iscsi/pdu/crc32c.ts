const POLYNOMIAL = 0x82f63b78;
const STEP_BYTES = 16;
const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
/** From here on it pays to look at the bytes as words. */
const WORDS_PAY_BYTES = LITTLE_ENDIAN ? 256 : Infinity;

/** Sixteen tables one after the other: entry `256 * n + byte` advances the remainder by `byte` and n zero bytes. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(STEP_BYTES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) {
      remainder = remainder & 1 ? (remainder >>> 1) ^ POLYNOMIAL : remainder >>> 1;
    }
    tables[byte] = remainder;
  }
  for (let entry = 256; entry < tables.length; entry++) {
    const before = tables[entry - 256] ?? 0;
    tables[entry] = (before >>> 8) ^ (tables[before & 0xff] ?? 0);
  }
  return tables;
}

/** CRC32C of `bytes[start, end)`. Pass the result of an earlier piece to go on from there. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  if (end - start < WORDS_PAY_BYTES) return ~byBytes(bytes, start, end, ~before) >>> 0;
  const wordsAt = start + (-(bytes.byteOffset + start) & 3);
  const steps = Math.floor((end - wordsAt) / STEP_BYTES);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + wordsAt, steps * 4);
  const remainder = byWords(words, byBytes(bytes, start, wordsAt, ~before));
  return ~byBytes(bytes, wordsAt + steps * STEP_BYTES, end, remainder) >>> 0;
}

// Indices below are inside the tables by their masks, and inside the data by the loops' conditions.
/* oxlint-disable typescript/no-non-null-assertion */
function byBytes(bytes: Uint8Array, start: number, end: number, before: number): number {
  const tables = TABLES;
  let crc = before;
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]!) & 0xff]!;
  return crc;
}

/** Sixteen bytes a step. */
function byWords(words: Int32Array, before: number): number {
  const t = TABLES;
  let crc = before;
  for (let at = 0; at < words.length; at += 4) {
    const a = words[at]! ^ crc;
    const b = words[at + 1]!;
    const c = words[at + 2]!;
    const d = words[at + 3]!;
    crc =
      t[3840 + (a & 0xff)]! ^
      t[3584 + ((a >>> 8) & 0xff)]! ^
      t[3328 + ((a >>> 16) & 0xff)]! ^
      t[3072 + (a >>> 24)]! ^
      t[2816 + (b & 0xff)]! ^
      t[2560 + ((b >>> 8) & 0xff)]! ^
      t[2304 + ((b >>> 16) & 0xff)]! ^
      t[2048 + (b >>> 24)]! ^
      t[1792 + (c & 0xff)]! ^
      t[1536 + ((c >>> 8) & 0xff)]! ^
      t[1280 + ((c >>> 16) & 0xff)]! ^
      t[1024 + (c >>> 24)]! ^
      t[768 + (d & 0xff)]! ^
      t[512 + ((d >>> 8) & 0xff)]! ^
      t[256 + ((d >>> 16) & 0xff)]! ^
      t[d >>> 24]!;
  }
  return crc;
}
/* oxlint-enable typescript/no-non-null-assertion */
