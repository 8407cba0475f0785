import type { RecordOf } from '@granary/contract';
import type { IopsPoint, LatencyPoint, ThroughputPoint } from '@granary/contract/objects';
import type { Line } from '../../parts/line.ts';
import { bytes, count } from '../../parts/format.ts';

/** What is measured; an endpoint each. */
export type Measure = 'iops' | 'throughput' | 'latency';

export interface Points {
  readonly iops: RecordOf<typeof IopsPoint>;
  readonly throughput: RecordOf<typeof ThroughputPoint>;
  readonly latency: RecordOf<typeof LatencyPoint>;
}

export interface Figure {
  readonly measure: Measure;
  readonly title: string;
  readonly format: (value: number) => string;
}

export const FIGURES: readonly Figure[] = [
  { measure: 'iops', title: 'Requests', format: (value) => `${count(value)}/s` },
  { measure: 'throughput', title: 'Throughput', format: (value) => `${bytes(Math.round(value))}/s` },
  { measure: 'latency', title: 'Latency', format: (value) => `${count(value)} ms` },
];

const KINDS = [
  ['Read', 'get'],
  ['Written', 'put'],
  ['Deleted', 'delete'],
] as const;

type AnyPoint = Readonly<Record<string, number>>;

/** Three lines of one measure. A latency of nothing is no latency: the line has a gap there. */
export function linesOf(measure: Measure, points: readonly AnyPoint[]): Line[] {
  return KINDS.map(([label, kind]) => ({
    label,
    values: points.map((point) => {
      const value = point[`${measure}_${kind}`] ?? 0;
      return measure === 'latency' && value === 0 ? null : value;
    }),
  }));
}

/** Figures of the same moments, the newest first: what the charts show, as a table. */
export function rowsOf(series: Readonly<Record<Measure, readonly AnyPoint[]>>): {
  readonly time: number;
  readonly values: readonly (number | null)[];
}[] {
  const columns = FIGURES.map(({ measure }) => columnsOf(measure, series[measure]));
  return series.iops
    .map(({ time = 0 }) => ({ time, values: columns.flatMap((columnsAt) => columnsAt(time)) }))
    .toReversed();
}

/** The three values of a measure by the time. Each measure is asked for on its own, so one may be a point ahead. */
function columnsOf(measure: Measure, points: readonly AnyPoint[]): (time: number) => (number | null)[] {
  const lines = linesOf(measure, points);
  const indices = new Map(points.map(({ time }, index) => [time, index]));
  return (time) => lines.map(({ values }) => values[indices.get(time) ?? -1] ?? null);
}
