/**
 * The masks of AES-XTS: a data unit of 4096 bytes has 256 of 16 bytes, each the one before times x in GF(2^128), with
 * x^128 = x^7 + x^2 + x + 1 and the lowest bit first. Four runs of 64 go side by side, because one mask has to wait for
 * the one before it; the runs start 64 powers of x apart.
 */
const UNIT_BYTES: u32 = 4096;
const RUN_BYTES: u32 = 1024;

// In memory, because the engine builds a constant that it knows anew in every turn of a loop.
const constants = memory.data<u32>([0x87, 1, 1, 1]);

/** Adds the masks of `count` units to their data. `tweaks` holds the encrypted numbers of the units, 16 bytes each. */
export function addMasks(tweaks: usize, count: u32, data: usize): void {
  for (let unit: u32 = 0; unit < count; unit++) {
    const first = v128.load(tweaks + unit * 16);
    const second = timesX64(first);
    const third = timesX64(second);
    maskUnit(data + unit * UNIT_BYTES, first, second, third, timesX64(third));
  }
}

function maskUnit(data: usize, a: v128, b: v128, c: v128, d: v128): void {
  const back = v128.load(constants);
  const end = data + RUN_BYTES;
  for (let at = data; at < end; at += 16) {
    v128.store(at, v128.xor(a, v128.load(at)));
    v128.store(at, v128.xor(b, v128.load(at, RUN_BYTES)), RUN_BYTES);
    v128.store(at, v128.xor(c, v128.load(at, 2 * RUN_BYTES)), 2 * RUN_BYTES);
    v128.store(at, v128.xor(d, v128.load(at, 3 * RUN_BYTES)), 3 * RUN_BYTES);
    a = timesX(a, back);
    b = timesX(b, back);
    c = timesX(c, back);
    d = timesX(d, back);
  }
}

/** Each 32-bit lane moves up by one; the bit it loses enters the next lane, and that of the last comes back as 0x87. */
function timesX(value: v128, back: v128): v128 {
  const lost = i32x4.shr_s(value, 31);
  const entering = v128.and(v128.shuffle<i32>(lost, lost, 3, 0, 1, 2), back);
  return v128.xor(i32x4.shl(value, 1), entering);
}

/** The upper half wraps round: it is multiplied by x^7 + x^2 + x + 1, and what overflows goes to the upper half. */
function timesX64(value: v128): v128 {
  const low = v128.extract_lane<u64>(value, 0);
  const high = v128.extract_lane<u64>(value, 1);
  const wrapped = high ^ (high << 1) ^ (high << 2) ^ (high << 7);
  const overflow = (high >>> 63) ^ (high >>> 62) ^ (high >>> 57);
  return i64x2.replace_lane(i64x2.splat(wrapped), 1, low ^ overflow);
}
