import assert from 'node:assert/strict';
import { logarithm, power } from './field.ts';
import { kernels, POINTERS_AT, TABLE_BYTES, TABLES_AT } from './instance.ts';
import { pointers, runInStrips } from './strips.ts';

const COLUMN_BYTES = 64;
const DATA_SHARDS_MAX = 253;

/** Fills P and Q, the last two of `shards`, from the data shards before them. */
export function computeParity(shards: readonly Buffer[]): void {
  checkStripe(shards);
  const p = shards.length - 2;
  const run = (bytes: number) => kernels.parity(POINTERS_AT, p, bytes, pointerOf(p), pointerOf(p + 1));
  runInStrips({ shards, written: [p, p + 1], keeps: false, run });
}

/** Recomputes up to two missing shards (data, P or Q) in place from the others. `missing` holds their indices. */
export function recover(shards: readonly Buffer[], missing: readonly number[]): void {
  checkStripe(shards);
  const lost = [...new Set(missing)].sort((left, right) => left - right);
  assert.ok(lost.length <= 2, `${lost.length} shards are missing: two parities make up for two at most`);
  for (const index of lost) assert.ok(shards[index], `there is no shard ${index} in a stripe of ${shards.length}`);
  const p = shards.length - 2;
  const [first = -1, second = -1] = lost;
  if (lost.length === 2 && second < p) {
    recoverTwo(shards, first, second);
  } else if (lost.length === 2 && first === p) {
    computeParity(shards);
  } else {
    if (second === p) recoverFromQ(shards, first);
    else if (first >= 0 && first <= p) recoverFromSum(shards, first);
    if (second === p) recoverFromSum(shards, p);
    if (lost.includes(p + 1)) recomputeQ(shards);
  }
}

/** Applies a change (old XOR new) of the data shard `dataIndex` to P and Q. */
export function updateParity(dataIndex: number, change: Buffer, p: Buffer, q: Buffer): void {
  if (!Number.isInteger(dataIndex) || dataIndex < 0 || dataIndex >= DATA_SHARDS_MAX) {
    assert.fail(`${dataIndex} is no index of a data shard: they are 0 to ${DATA_SHARDS_MAX - 1}`);
  }
  const shards = [change, p, q];
  checkLengths(shards);
  const table = tableOf(power(dataIndex));
  const run = (bytes: number) => kernels.update(pointerOf(0), bytes, pointerOf(1), pointerOf(2), table);
  runInStrips({ shards, written: [1, 2], keeps: true, run });
}

/** target ^= source */
export function xorInto(target: Buffer, source: Buffer): void {
  const shards = [target, source];
  checkLengths(shards);
  runInStrips({ shards, written: [0], keeps: true, run: (bytes) => kernels.xor(pointerOf(0), pointerOf(1), bytes) });
}

/** Data and P add up to zero, so each of them is the sum of all others. */
function recoverFromSum(shards: readonly Buffer[], index: number): void {
  const p = shards.length - 2;
  const run = (bytes: number) => {
    const target = pointerOf(index);
    pointers[index] = pointerOf(p);
    kernels.sum(POINTERS_AT, p, bytes, target);
  };
  runInStrips({ shards: shards.slice(0, -1), written: [index], keeps: false, run });
}

function recomputeQ(shards: readonly Buffer[]): void {
  const p = shards.length - 2;
  const run = (bytes: number) => kernels.parity(POINTERS_AT, p, bytes, 0, pointerOf(p + 1));
  runInStrips({ shards, written: [p + 1], keeps: false, run });
}

/** Without P: what Q lacks is g^index times the missing data. */
function recoverFromQ(shards: readonly Buffer[], index: number): void {
  solve(shards, [index], 0, power(-index));
}

/** With d = g^(second - first): the first is (d·p + g^-first·q) / (d + 1), where p and q are what P and Q lack. */
function recoverTwo(shards: readonly Buffer[], first: number, second: number): void {
  const distance = second - first;
  const divisor = logarithm(power(distance) ^ 1);
  solve(shards, [first, second], power(distance - divisor), power(-first - divisor));
}

function solve(shards: readonly Buffer[], lost: readonly number[], a: number, b: number): void {
  const p = shards.length - 2;
  const run = (bytes: number) => {
    const [x = 0, y = 0] = lost.map(pointerOf);
    for (const index of lost) pointers[index] = 0;
    kernels.solve(POINTERS_AT, p, bytes, pointerOf(p), pointerOf(p + 1), x, y, tableOf(a), tableOf(b));
  };
  runInStrips({ shards, written: lost, keeps: false, run });
}

function pointerOf(index: number): number {
  return pointers[index] as number;
}

/** Where the products with a constant are. */
function tableOf(constant: number): number {
  return TABLES_AT + constant * TABLE_BYTES;
}

function checkStripe(shards: readonly Buffer[]): void {
  const dataCount = shards.length - 2;
  if (dataCount < 1 || dataCount > DATA_SHARDS_MAX) {
    assert.fail(`a stripe has 1 to ${DATA_SHARDS_MAX} data shards, not ${dataCount}`);
  }
  checkLengths(shards);
}

function checkLengths(shards: readonly Buffer[]): void {
  const length = shards[0]?.length ?? 0;
  if (length % COLUMN_BYTES !== 0) assert.fail(`shards are multiples of ${COLUMN_BYTES} bytes, not ${length}`);
  for (const shard of shards) assert.ok(shard.length === length, 'the shards of a stripe have one length');
}
