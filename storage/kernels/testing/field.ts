/** GF(2^8) with the polynomial 0x11d, bit by bit. */
export function times(left: number, right: number): number {
  let result = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    result <<= 1;
    if (result & 0x100) result ^= 0x11d;
    if ((right >> bit) & 1) result ^= left;
  }
  return result;
}

/** P and Q of the data, byte by byte. */
export function referenceParity(data: readonly Buffer[]): { p: Buffer; q: Buffer } {
  const length = data[0]!.length;
  const p = Buffer.alloc(length);
  const q = Buffer.alloc(length);
  let factor = 1;
  for (const shard of data) {
    const products = Uint8Array.from({ length: 256 }, (_, byte) => times(factor, byte));
    for (let at = 0; at < length; at += 1) {
      p[at]! ^= shard[at]!;
      q[at]! ^= products[shard[at]!]!;
    }
    factor = times(factor, 2);
  }
  return { p, q };
}
