/**
 * RAID6 over GF(2^8) with the polynomial 0x11d and the generator 2: P is the sum of the data, Q the sum of g^i times the
 * data of index i. Lengths are whole columns of 64 bytes. `pointers` lists where the data shards are, as 32-bit
 * addresses; address 0 is a shard that is missing and counts as zeros. `tables` holds, for every constant c, the
 * products of c with 0..15 and with 0, 16, .. 240: a byte is multiplied by looking up its two halves.
 */
const COLUMN_BYTES: u32 = 64;
const TABLE_SHIFT: u32 = 5;

// In memory, because the engine builds a constant that it knows anew in every turn of a loop.
const constants = memory.data<u8>([0x1d, 0x0f, 0]);

/** Fills P (unless its address is 0) and Q from the data, by Horner's rule from the last shard to the first. */
export function parity(pointers: usize, count: u32, length: u32, p: usize, q: usize): void {
  const zero = v128.load8_splat(constants, 2);
  const polynomial = v128.load8_splat(constants);
  for (let at: u32 = 0; at < length; at += COLUMN_BYTES) {
    let p0 = zero;
    let p1 = p0;
    let p2 = p0;
    let p3 = p0;
    let q0 = p0;
    let q1 = p0;
    let q2 = p0;
    let q3 = p0;
    for (let entry = pointers + count * 4; entry > pointers;) {
      entry -= 4;
      const column = load<u32>(entry) + at;
      const d0 = v128.load(column);
      const d1 = v128.load(column, 16);
      const d2 = v128.load(column, 32);
      const d3 = v128.load(column, 48);
      p0 = v128.xor(p0, d0);
      p1 = v128.xor(p1, d1);
      p2 = v128.xor(p2, d2);
      p3 = v128.xor(p3, d3);
      q0 = v128.xor(twice(q0, zero, polynomial), d0);
      q1 = v128.xor(twice(q1, zero, polynomial), d1);
      q2 = v128.xor(twice(q2, zero, polynomial), d2);
      q3 = v128.xor(twice(q3, zero, polynomial), d3);
    }
    if (p) storeColumn(p + at, p0, p1, p2, p3);
    storeColumn(q + at, q0, q1, q2, q3);
  }
}

/** Fills `target` with the sum of `count` shards. */
export function sum(pointers: usize, count: u32, length: u32, target: usize): void {
  const end = pointers + count * 4;
  for (let at: u32 = 0; at < length; at += COLUMN_BYTES) {
    let s0 = i64x2(0, 0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let entry = pointers; entry < end; entry += 4) {
      const column = load<u32>(entry) + at;
      s0 = v128.xor(s0, v128.load(column));
      s1 = v128.xor(s1, v128.load(column, 16));
      s2 = v128.xor(s2, v128.load(column, 32));
      s3 = v128.xor(s3, v128.load(column, 48));
    }
    storeColumn(target + at, s0, s1, s2, s3);
  }
}

/**
 * What P and Q say is missing of the data: with p and q the sums over the missing shards alone, x = a·p + b·q, and
 * y = p + x. A lone missing shard has no y (address 0); it is found from Q alone with a = 0.
 */
export function solve(
  pointers: usize,
  count: u32,
  length: u32,
  p: usize,
  q: usize,
  x: usize,
  y: usize,
  timesA: usize,
  timesB: usize,
): void {
  const aLow = v128.load(timesA);
  const aHigh = v128.load(timesA, 16);
  const bLow = v128.load(timesB);
  const bHigh = v128.load(timesB, 16);
  const zero = v128.load8_splat(constants, 2);
  const polynomial = v128.load8_splat(constants);
  const half = v128.load8_splat(constants, 1);
  for (let at: u32 = 0; at < length; at += 16) {
    let sumP = zero;
    let sumQ = sumP;
    for (let entry = pointers + count * 4; entry > pointers;) {
      entry -= 4;
      const shard = load<u32>(entry);
      sumQ = twice(sumQ, zero, polynomial);
      if (!shard) continue;
      const data = v128.load(shard + at);
      sumP = v128.xor(sumP, data);
      sumQ = v128.xor(sumQ, data);
    }
    sumP = v128.xor(sumP, v128.load(p + at));
    sumQ = v128.xor(sumQ, v128.load(q + at));
    const found = v128.xor(times(sumP, aLow, aHigh, half), times(sumQ, bLow, bHigh, half));
    v128.store(x + at, found);
    if (y) v128.store(y + at, v128.xor(found, sumP));
  }
}

/** Takes a change of one data shard over into P and Q. `table` holds the products with g^index. */
export function update(change: usize, length: u32, p: usize, q: usize, table: usize): void {
  const low = v128.load(table);
  const high = v128.load(table, 16);
  const half = v128.load8_splat(constants, 1);
  for (let at: u32 = 0; at < length; at += 16) {
    const data = v128.load(change + at);
    v128.store(p + at, v128.xor(v128.load(p + at), data));
    v128.store(q + at, v128.xor(v128.load(q + at), times(data, low, high, half)));
  }
}

export function xor(target: usize, source: usize, length: u32): void {
  for (let at: u32 = 0; at < length; at += COLUMN_BYTES) {
    const to = target + at;
    const from = source + at;
    storeColumn(
      to,
      v128.xor(v128.load(to), v128.load(from)),
      v128.xor(v128.load(to, 16), v128.load(from, 16)),
      v128.xor(v128.load(to, 32), v128.load(from, 32)),
      v128.xor(v128.load(to, 48), v128.load(from, 48)),
    );
  }
}

/** Fills in the tables: 32 bytes for each of the 256 constants. */
export function fillTables(tables: usize): void {
  for (let constant: u32 = 0; constant < 256; constant++) {
    const table = tables + (constant << TABLE_SHIFT);
    for (let half: u32 = 0; half < 16; half++) {
      store<u8>(table + half, product(constant, half));
      store<u8>(table + half, product(constant, half << 4), 16);
    }
  }
}

function product(left: u32, right: u32): u32 {
  let result: u32 = 0;
  for (; right; right >>= 1) {
    if (right & 1) result ^= left;
    left = left & 0x80 ? (left << 1) ^ 0x11d : left << 1;
  }
  return result;
}

function twice(value: v128, zero: v128, polynomial: v128): v128 {
  const overflow = v128.and(i8x16.lt_s(value, zero), polynomial);
  return v128.xor(i8x16.add(value, value), overflow);
}

/** Indices stay below 16, where the relaxed look-up is the exact one and a single instruction. */
function times(value: v128, low: v128, high: v128, half: v128): v128 {
  const lower = i8x16.relaxed_swizzle(low, v128.and(value, half));
  return v128.xor(lower, i8x16.relaxed_swizzle(high, v128.and(i16x8.shr_u(value, 4), half)));
}

function storeColumn(at: usize, a: v128, b: v128, c: v128, d: v128): void {
  v128.store(at, a);
  v128.store(at, b, 16);
  v128.store(at, c, 32);
  v128.store(at, d, 48);
}
