/** CRC32C (Castagnoli), eight bytes at a time: the digest of iSCSI headers and data. */
const TABLES = makeTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The checksum of `bytes[from..to)`, going on from the checksum of what came before. */
export function crc32c(bytes: Uint8Array, from = 0, to: number = bytes.length, before = 0): number {
  let crc = ~before;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    crc ^= byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24);
    crc =
      entry(T7, crc & 255) ^
      entry(T6, (crc >>> 8) & 255) ^
      entry(T5, (crc >>> 16) & 255) ^
      entry(T4, crc >>> 24) ^
      entry(T3, byte(bytes, at + 4)) ^
      entry(T2, byte(bytes, at + 5)) ^
      entry(T1, byte(bytes, at + 6)) ^
      entry(T0, byte(bytes, at + 7));
  }
  for (; at < to; at += 1) crc = (crc >>> 8) ^ entry(T0, (crc ^ byte(bytes, at)) & 255);
  return ~crc >>> 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}

function entry(table: Int32Array, at: number): number {
  return table[at] as number;
}

function makeTables(): Int32Array[] {
  const tables = Array.from({ length: 8 }, () => new Int32Array(256));
  const first = tables[0] as Int32Array;
  for (let value = 0; value < 256; value += 1) {
    let crc = value;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    first[value] = crc;
  }
  for (let level = 1; level < 8; level += 1) {
    const below = tables[level - 1] as Int32Array;
    const table = tables[level] as Int32Array;
    for (let value = 0; value < 256; value += 1) {
      const crc = entry(below, value);
      table[value] = (crc >>> 8) ^ entry(first, crc & 255);
    }
  }
  return tables;
}
