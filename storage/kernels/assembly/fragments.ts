/**
 * Sums of shards times constants over GF(2^8), for Reed-Solomon with any number of parities. `pointers` lists where
 * the shards are and behind them where the sums go, as 32-bit addresses; `factors` has a row of constants for every
 * sum, a byte for each shard. `tables` are those of `parity.ts`. Lengths are whole columns of 64 bytes.
 */
const COLUMN_BYTES: u32 = 64;
const TABLE_SHIFT: u32 = 5;

// In memory, because the engine builds a constant that it knows anew in every turn of a loop.
const halves = memory.data<u8>([0x0f]);

export function combine(pointers: usize, count: u32, sums: u32, length: u32, factors: usize, tables: usize): void {
  const half = v128.load8_splat(halves);
  const targets = pointers + count * 4;
  for (let at: u32 = 0; at < length; at += COLUMN_BYTES) {
    for (let sum: u32 = 0; sum < sums; sum++) {
      const row = factors + sum * count;
      let s0 = i64x2(0, 0);
      let s1 = s0;
      let s2 = s0;
      let s3 = s0;
      for (let shard: u32 = 0; shard < count; shard++) {
        const table = tables + ((<usize>load<u8>(row + shard)) << TABLE_SHIFT);
        const low = v128.load(table);
        const high = v128.load(table, 16);
        const column = load<u32>(pointers + shard * 4) + at;
        s0 = v128.xor(s0, multiplied(v128.load(column), low, high, half));
        s1 = v128.xor(s1, multiplied(v128.load(column, 16), low, high, half));
        s2 = v128.xor(s2, multiplied(v128.load(column, 32), low, high, half));
        s3 = v128.xor(s3, multiplied(v128.load(column, 48), low, high, half));
      }
      const target = load<u32>(targets + sum * 4) + at;
      v128.store(target, s0);
      v128.store(target, s1, 16);
      v128.store(target, s2, 32);
      v128.store(target, s3, 48);
    }
  }
}

/** Indices stay below 16, where the relaxed look-up is the exact one and a single instruction. */
function multiplied(value: v128, low: v128, high: v128, half: v128): v128 {
  const lower = i8x16.relaxed_swizzle(low, v128.and(value, half));
  return v128.xor(lower, i8x16.relaxed_swizzle(high, v128.and(i16x8.shr_u(value, 4), half)));
}
