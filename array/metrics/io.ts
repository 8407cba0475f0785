import type { Measure } from '@granary/kernel';
import type { IoLatencies, IoTotals, OperationTotals } from '../engine/report.ts';

/** Something that counts its reads and writes. */
export interface Measured {
  readonly id: string;
  readonly io: IoTotals;
  readonly latencies?: IoLatencies;
}

const MICROSECONDS = 1e6;
const DIRECTIONS = [
  ['read', 'reads'],
  ['write', 'writes'],
] as const;

/** Operations, bytes and, where the engine counts them, latencies of things of one kind. */
export function ioMeasures(kind: string, words: string, things: () => Iterable<Measured>): Measure[] {
  return [...countMeasures(kind, words, things), latencyMeasure(kind, words, things)];
}

/** Of things whose latencies are summed, not counted in buckets. */
export function ioTimeMeasures(kind: string, words: string, things: () => Iterable<Measured>): Measure[] {
  const help = `Time that reads and writes of a ${words} took together`;
  const seconds = ({ microseconds }: OperationTotals) => microseconds / MICROSECONDS;
  return [...countMeasures(kind, words, things), counter(kind, 'operation_seconds_total', help, things, seconds)];
}

function countMeasures(kind: string, words: string, things: () => Iterable<Measured>): Measure[] {
  return [
    counter(kind, 'operations_total', `Reads and writes of a ${words}`, things, ({ count }) => count),
    counter(kind, 'bytes_total', `Bytes read from and written to a ${words}`, things, ({ bytes }) => bytes),
  ];
}

function counter(
  kind: string,
  name: string,
  help: string,
  things: () => Iterable<Measured>,
  valueOf: (totals: OperationTotals) => number,
): Measure {
  return {
    name: `granary_${kind}_${name}`,
    help,
    type: 'counter',
    *read() {
      for (const { id, io } of things()) {
        for (const [direction, key] of DIRECTIONS) yield { labels: { [kind]: id, direction }, value: valueOf(io[key]) };
      }
    },
  };
}

function latencyMeasure(kind: string, words: string, things: () => Iterable<Measured>): Measure {
  return {
    name: `granary_${kind}_operation_duration_seconds`,
    help: `How long reads and writes of a ${words} took`,
    type: 'histogram',
    *read() {
      for (const { id, io, latencies } of things()) {
        if (!latencies) continue;
        for (const [direction, key] of DIRECTIONS) {
          const labels = { [kind]: id, direction };
          const sum = io[key].microseconds / MICROSECONDS;
          yield { labels, ends: latencies.endsSeconds, counts: latencies[key], sum };
        }
      }
    },
  };
}
