import { LATENCY_ENDS_MS, type OperationStatistics } from '@granary/storage';
import type { IoLatencies, IoTotals, OperationTotals } from '../../report.ts';

export interface Measured {
  readonly reads: OperationStatistics;
  readonly writes: OperationStatistics;
}

export const NO_IO: IoTotals = {
  reads: { count: 0, bytes: 0, microseconds: 0 },
  writes: { count: 0, bytes: 0, microseconds: 0 },
};

/** Counts of reads and writes by how long they took, in the buckets of `LATENCY_ENDS_MS`. */
export type LatencyCounts = Pick<IoLatencies, 'reads' | 'writes'>;

const NONE_IN_BUCKETS = new Array<number>(LATENCY_ENDS_MS.length + 1).fill(0);
export const NO_LATENCIES: LatencyCounts = { reads: NONE_IN_BUCKETS, writes: NONE_IN_BUCKETS };
const ENDS_SECONDS = LATENCY_ENDS_MS.map((end) => end / 1000);

export function latenciesOf({ reads, writes }: LatencyCounts): IoLatencies {
  return { endsSeconds: ENDS_SECONDS, reads, writes };
}

export function addLatencies(one: LatencyCounts, other: LatencyCounts, sign: 1 | -1 = 1): LatencyCounts {
  return { reads: addCounts(one.reads, other.reads, sign), writes: addCounts(one.writes, other.writes, sign) };
}

function addCounts(one: readonly number[], other: readonly number[], sign: 1 | -1): number[] {
  return one.map((count, index) => count + sign * (other[index] ?? 0));
}

export function totalsOf({ reads, writes }: Measured): IoTotals {
  return { reads: operationOf(reads), writes: operationOf(writes) };
}

export function plus(one: IoTotals, other: IoTotals): IoTotals {
  return { reads: add(one.reads, other.reads, 1), writes: add(one.writes, other.writes, 1) };
}

export function minus(one: IoTotals, other: IoTotals): IoTotals {
  return { reads: add(one.reads, other.reads, -1), writes: add(one.writes, other.writes, -1) };
}

function add(one: OperationTotals, other: OperationTotals, sign: 1 | -1): OperationTotals {
  return {
    count: one.count + sign * other.count,
    bytes: one.bytes + sign * other.bytes,
    microseconds: one.microseconds + sign * other.microseconds,
  };
}

function operationOf({ count, bytes, microseconds }: OperationStatistics): OperationTotals {
  return { count, bytes, microseconds: Math.round(microseconds) };
}
