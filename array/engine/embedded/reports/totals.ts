import type { OperationStatistics } from '@granary/storage';
import type { IoTotals, OperationTotals } from '../../report.ts';

export interface Measured {
  readonly reads: OperationStatistics;
  readonly writes: OperationStatistics;
}

export const NO_IO: IoTotals = {
  reads: { count: 0, bytes: 0, microseconds: 0 },
  writes: { count: 0, bytes: 0, microseconds: 0 },
};

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
