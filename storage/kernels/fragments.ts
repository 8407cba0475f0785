import assert from 'node:assert/strict';
import { inverse, multiply } from './field.ts';
import { FACTORS_AT, FACTORS_MAX, kernels, memoryBuffer, POINTERS_AT, TABLES_AT } from './instance.ts';
import { runInStrips } from './strips.ts';

/**
 * Reed-Solomon: `k` data fragments and up to 8 parities, of which any `k` give back all others. Parity j is the sum of
 * the data fragments times a row of a Cauchy matrix, 1 / (x_j + y_i) with all x and y different: every square part of
 * such a matrix can be inverted, and so can every choice of k rows of it and the identity above it.
 */
const DATA_MAX = 32;
const PARITY_MAX = 8;
const COLUMN_BYTES = 64;
const factors = new Uint8Array(memoryBuffer, FACTORS_AT, FACTORS_MAX);

/** Fills `parity` from `data`. All have one length, whatever it is. */
export function encodeFragments(data: readonly Buffer[], parity: readonly Buffer[]): void {
  checkCounts(data.length, parity.length);
  combine(
    data,
    parity,
    parity.map((_, row) => parityRow(row, data.length)),
  );
}

/**
 * Fills `into` with the fragments of the indices in `wanted`, from any `k` of those that are there. Fragments are listed
 * data first; those that are missing are `undefined`.
 */
export function rebuildFragments(
  fragments: readonly (Buffer | undefined)[],
  k: number,
  wanted: readonly number[],
  into: readonly Buffer[],
): void {
  checkCounts(k, fragments.length - k);
  assert.ok(wanted.length === into.length && wanted.length <= DATA_MAX + PARITY_MAX, 'a buffer for every fragment');
  const present = fragments.flatMap((fragment, index) => (fragment ? [index] : [])).slice(0, k);
  assert.ok(present.length === k, `${present.length} fragments are there: ${k} are needed`);
  const decoded = inverted(present.map((index) => rowOf(index, k)));
  const rows = wanted.map((index) => productOf(rowOf(index, k), decoded));
  const sources = present.flatMap((index) => fragments[index] ?? []);
  for (let done = 0; done < wanted.length; done += PARITY_MAX) {
    combine(sources, into.slice(done, done + PARITY_MAX), rows.slice(done, done + PARITY_MAX));
  }
}

function combine(sources: readonly Buffer[], sums: readonly Buffer[], rows: readonly Uint8Array[]): void {
  if (sums.length === 0) return;
  const length = sources[0]?.length ?? 0;
  for (const shard of [...sources, ...sums]) assert.ok(shard.length === length, 'fragments have one length');
  rows.forEach((row, index) => factors.set(row, index * sources.length));
  const whole = length - (length % COLUMN_BYTES);
  if (whole > 0) combineColumns(parts(sources, 0, whole), parts(sums, 0, whole));
  if (whole < length) combineRest(sources, sums, whole);
}

function combineColumns(sources: readonly Buffer[], sums: readonly Buffer[]): void {
  const run = (bytes: number) =>
    kernels.combine(POINTERS_AT, sources.length, sums.length, bytes, FACTORS_AT, TABLES_AT);
  const written = sums.map((_, index) => sources.length + index);
  runInStrips({ shards: [...sources, ...sums], written, keeps: false, run });
}

/** The kernel processes whole columns: the last bytes are padded with zeros to a column. */
function combineRest(sources: readonly Buffer[], sums: readonly Buffer[], from: number): void {
  const padded = sources.map((source) => {
    const column = Buffer.alloc(COLUMN_BYTES);
    source.copy(column, 0, from);
    return column;
  });
  const results = sums.map(() => Buffer.alloc(COLUMN_BYTES));
  combineColumns(padded, results);
  sums.forEach((sum, index) => results[index]?.copy(sum, from, 0, sum.length - from));
}

function parts(buffers: readonly Buffer[], from: number, until: number): readonly Buffer[] {
  return buffers.map((buffer) => (buffer.length === until - from ? buffer : buffer.subarray(from, until)));
}

/** A fragment as a sum of the data: a data fragment is itself alone. */
function rowOf(index: number, k: number): Uint8Array {
  if (index >= k) return parityRow(index - k, k);
  const row = new Uint8Array(k);
  row[index] = 1;
  return row;
}

function parityRow(parity: number, k: number): Uint8Array {
  return Uint8Array.from({ length: k }, (_, index) => inverse((DATA_MAX + parity) ^ index));
}

function productOf(row: Uint8Array, matrix: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(row.length);
  matrix.forEach((other, index) => addTimes(result, other, row[index] ?? 0));
  return result;
}

/** Gauss-Jordan elimination. */
function inverted(matrix: readonly Uint8Array[]): readonly Uint8Array[] {
  const size = matrix.length;
  const left = matrix.map((row) => Uint8Array.from(row));
  const right = matrix.map((_, index) => rowOf(index, size));
  for (let column = 0; column < size; column += 1) {
    const pivot = left.findIndex((row, index) => index >= column && row[column] !== 0);
    for (const side of [left, right]) swap(side, column, pivot);
    const scale = inverse(left[column]?.[column] ?? 0);
    for (const side of [left, right]) scaleRow(side[column] as Uint8Array, scale);
    for (let row = 0; row < size; row += 1) {
      const factor = left[row]?.[column] ?? 0;
      if (row === column || factor === 0) continue;
      for (const side of [left, right]) addTimes(side[row] as Uint8Array, side[column] as Uint8Array, factor);
    }
  }
  return right;
}

function swap(rows: Uint8Array[], first: number, second: number): void {
  const row = rows[first] as Uint8Array;
  rows[first] = rows[second] as Uint8Array;
  rows[second] = row;
}

function scaleRow(row: Uint8Array, factor: number): void {
  for (let index = 0; index < row.length; index += 1) row[index] = multiply(row[index] as number, factor);
}

/** row += factor * other */
function addTimes(row: Uint8Array, other: Uint8Array, factor: number): void {
  for (let index = 0; index < row.length; index += 1) {
    row[index] = (row[index] as number) ^ multiply(other[index] as number, factor);
  }
}

function checkCounts(data: number, parity: number): void {
  if (data < 1 || data > DATA_MAX) assert.fail(`1 to ${DATA_MAX} data fragments, not ${data}`);
  if (parity < 0 || parity > PARITY_MAX) assert.fail(`0 to ${PARITY_MAX} parity fragments, not ${parity}`);
}
