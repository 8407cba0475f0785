const LANES = 32;
const STARTS = [
  [0x3c6ef372, 0x1f83d9ab, 0x5be0cd19, 0x137e2179, 0x2b3e6c1f, 0x510e527f, 0x6a09e667, 0x243f6a88],
  [0x452821e6, 0x38d01377, 0x34e90c6c, 0x29b7c97c, 0x50dd3f84, 0x35470917, 0x1216d5d9, 0x0979fb1b],
  [0x5a308d31, 0x13198a2e, 0x03707344, 0x4093822e, 0x299f31d0, 0x082efa98, 0x6c4e6c89, 0x7be5466c],
  [0x34bf3bd6, 0x7d84a5b5, 0x4a99b1d1, 0x636920d8, 0x71574e69, 0x0458fea3, 0x74933d7e, 0x0d95748f],
].flat();

/** The checksum of a block as its description has it, a word at a time. */
export function referenceChecksum(block: Buffer): number {
  const lanes = [...STARTS];
  for (let at = 0; at < block.length; at += 4) {
    const lane = (at / 4) % LANES;
    lanes[lane] = mix(lanes[lane]! ^ block.readUInt32LE(at));
  }
  // Four lanes stand side by side in a vector: first the eight vectors are folded, then the four lanes of the last.
  const vectors = Array.from({ length: 8 }, (_, index) => lanes.slice(index * 4, index * 4 + 4));
  const folded = foldPairs(vectors, (left, right) => left.map((lane, index) => mix(lane) ^ right[index]!));
  return finish(foldPairs(folded, (left, right) => mix(left) ^ right));
}

/** A change of the last word of `block` that lets the checksum come out as 0, were that value not put aside. */
export function changeToZero(block: Buffer): void {
  const at = block.length - 4;
  // The last lane enters the folded word as it is, so the folded word is also what that lane must change by.
  const folded = unfinish(referenceChecksum(block));
  const lanes = [...STARTS];
  for (let word = LANES - 1; word < at / 4; word += LANES) {
    lanes[LANES - 1] = mix(lanes[LANES - 1]! ^ block.readUInt32LE(word * 4));
  }
  const before = lanes[LANES - 1]!;
  const wanted = mix(before ^ block.readUInt32LE(at)) ^ folded;
  block.writeInt32LE(unmix(wanted) ^ before, at);
}

function foldPairs<T>(items: readonly T[], fold: (left: T, right: T) => T): T {
  let rest = [...items];
  while (rest.length > 1) {
    rest = Array.from({ length: rest.length / 2 }, (_, index) => fold(rest[index * 2]!, rest[index * 2 + 1]!));
  }
  return rest[0]!;
}

function mix(word: number): number {
  return Math.imul(word ^ (word >>> 15), 0x2c1b3c6d);
}

function unmix(word: number): number {
  const product = Math.imul(word, inverseOf(0x2c1b3c6d));
  return product ^ (product >>> 15) ^ (product >>> 30);
}

function unfinish(word: number): number {
  let last = Math.imul(word ^ (word >>> 16), inverseOf(0x846ca68b));
  last = Math.imul(last ^ (last >>> 15) ^ (last >>> 30), inverseOf(0x7feb352d));
  return last ^ (last >>> 16);
}

/** Of an odd number, modulo 2^32: each turn doubles the number of bits that are right. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let turn = 0; turn < 5; turn += 1) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}

function finish(word: number): number {
  let last = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  last = Math.imul(last ^ (last >>> 15), 0x846ca68b);
  return (last ^ (last >>> 16)) >>> 0 || 1;
}
