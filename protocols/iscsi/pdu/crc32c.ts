const POLYNOMIAL = 0x82f63b78;

/** Eight tables one after the other: entry `256 * n + byte` advances the remainder by `byte` and n zero bytes. */
const TABLES = makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
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

/** CRC32C of `bytes[start, end)`, eight bytes a step. Pass the result of an earlier piece to go on from there. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length, before = 0): number {
  const t = TABLES;
  let crc = ~before;
  let at = start;
  // Indices below are inside the tables by their masks, and inside `bytes` by the loops' conditions.
  /* eslint-disable @typescript-eslint/no-non-null-assertion */
  for (const last = end - 8; at <= last; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      t[1792 + (low & 0xff)]! ^
      t[1536 + ((low >>> 8) & 0xff)]! ^
      t[1280 + ((low >>> 16) & 0xff)]! ^
      t[1024 + (low >>> 24)]! ^
      t[768 + bytes[at + 4]!]! ^
      t[512 + bytes[at + 5]!]! ^
      t[256 + bytes[at + 6]!]! ^
      t[bytes[at + 7]!]!;
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 0xff]!;
  /* eslint-enable @typescript-eslint/no-non-null-assertion */
  return ~crc >>> 0;
}
