/**
 * One 32-bit checksum for each 4096-byte block.
 *
 * A block is read in 32 rows of 128 bytes. The 32 words of a row go to 32 lanes (eight vectors of four), each lane with
 * a start of its own, so that equal words in different places count differently. A lane takes its next word by
 *
 *     v = state ^ word;   state = (v ^ (v >>> 15)) * ODD
 *
 * Both halves of that are one-to-one in 32 bits: a changed word always changes the state, and equal words after it keep
 * it changed. The shift comes before the product because the product alone moves bits only upwards: a flip of the top
 * bit would leave as one flipped bit, which a second flip a row later could hide. The order of words within a lane
 * counts, so rows that change places are seen.
 *
 * At the end the lanes are folded in pairs, `mix(a) ^ b`, which is one-to-one in each of them, and the last word goes
 * through two more rounds that spread every bit over all others, again one-to-one. So damage within a single word, a
 * flipped bit above all, is never missed (but for the one value in 2^32 that is put in place of zero); damage that
 * touches more words is missed with a chance of about 2^-32.
 */
const BLOCK_BYTES: u32 = 4096;
const ROW_BYTES: u32 = 128;
const ODD: u32 = 0x2c1b3c6d;
const SHIFT: i32 = 15;

// In memory, because the engine builds a constant that it knows anew in every turn of a loop.
const constants = memory.data<u32>([ODD]);

export function checksums(data: usize, count: u32, into: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(into + index * 4, checksum(data + index * BLOCK_BYTES));
  }
}

/** Zero stands for a block that was never written, so no block may have it. */
function checksum(data: usize): u32 {
  const folded = foldRows(data);
  const left = mixWord(v128.extract_lane<i32>(folded, 0)) ^ v128.extract_lane<i32>(folded, 1);
  const right = mixWord(v128.extract_lane<i32>(folded, 2)) ^ v128.extract_lane<i32>(folded, 3);
  let word: u32 = mixWord(left) ^ right;
  word = (word ^ (word >>> 16)) * 0x7feb352d;
  word = (word ^ (word >>> 15)) * 0x846ca68b;
  word ^= word >>> 16;
  return word == 0 ? 1 : word;
}

function foldRows(data: usize): v128 {
  const odd = v128.load32_splat(constants);
  let a = i32x4(0x3c6ef372, 0x1f83d9ab, 0x5be0cd19, 0x137e2179);
  let b = i32x4(0x2b3e6c1f, 0x510e527f, 0x6a09e667, 0x243f6a88);
  let c = i32x4(0x452821e6, 0x38d01377, 0x34e90c6c, 0x29b7c97c);
  let d = i32x4(0x50dd3f84, 0x35470917, 0x1216d5d9, 0x0979fb1b);
  let e = i32x4(0x5a308d31, 0x13198a2e, 0x03707344, 0x4093822e);
  let f = i32x4(0x299f31d0, 0x082efa98, 0x6c4e6c89, 0x7be5466c);
  let g = i32x4(0x34bf3bd6, 0x7d84a5b5, 0x4a99b1d1, 0x636920d8);
  let h = i32x4(0x71574e69, 0x0458fea3, 0x74933d7e, 0x0d95748f);
  const end = data + BLOCK_BYTES;
  for (let row = data; row < end; row += ROW_BYTES) {
    a = mix(v128.xor(a, v128.load(row)), odd);
    b = mix(v128.xor(b, v128.load(row, 16)), odd);
    c = mix(v128.xor(c, v128.load(row, 32)), odd);
    d = mix(v128.xor(d, v128.load(row, 48)), odd);
    e = mix(v128.xor(e, v128.load(row, 64)), odd);
    f = mix(v128.xor(f, v128.load(row, 80)), odd);
    g = mix(v128.xor(g, v128.load(row, 96)), odd);
    h = mix(v128.xor(h, v128.load(row, 112)), odd);
  }
  const first = v128.xor(mix(v128.xor(mix(a, odd), b), odd), v128.xor(mix(c, odd), d));
  const second = v128.xor(mix(v128.xor(mix(e, odd), f), odd), v128.xor(mix(g, odd), h));
  return v128.xor(mix(first, odd), second);
}

function mix(value: v128, odd: v128): v128 {
  return i32x4.mul(v128.xor(value, i32x4.shr_u(value, SHIFT)), odd);
}

function mixWord(value: u32): u32 {
  return (value ^ (value >>> SHIFT)) * ODD;
}
