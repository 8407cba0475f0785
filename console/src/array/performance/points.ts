import type { RecordOf } from '@granary/contract';
import type { IoPoint as IoPointRecord } from '@granary/contract/array';
import type { Line } from '../../parts/line.ts';
import { count, gigabytes } from '../../parts/format.ts';

const MB_IN_GB = 1024;
const LATE_POINTS_MAX = 3;

export type IoPoint = RecordOf<typeof IoPointRecord>;

/** One chart: what is read and what is written, in one unit. */
export interface Figure {
  readonly title: string;
  readonly read: (point: IoPoint) => number;
  readonly write: (point: IoPoint) => number;
  readonly format: (value: number) => string;
  /** Counted in bytes, or MiB of them. */
  readonly isBytes?: boolean;
}

export const FIGURES: readonly Figure[] = [
  { title: 'Operations', read: (at) => at.rd_iops, write: (at) => at.wrt_iops, format: (value) => `${count(value)}/s` },
  {
    title: 'Throughput',
    read: (at) => at.rd_bandwidth,
    write: (at) => at.wrt_bandwidth,
    format: (value) => (value === 0 ? '0 MiB/s' : `${gigabytes(value / MB_IN_GB)}/s`),
    isBytes: true,
  },
  {
    title: 'Latency',
    read: (at) => at.rd_iotime,
    write: (at) => at.wrt_iotime,
    format: (value) => `${count(value)} ms`,
  },
];

export function linesOf({ read, write }: Figure, points: readonly IoPoint[]): Line[] {
  return [
    { label: 'Read', values: points.map(read) },
    { label: 'Written', values: points.map(write) },
  ];
}

/**
 * The points of several things as those of one: rates add up, times are weighted by the operations that took them. Each thing
 * is asked on its own: the newest point of some would be a sum of a part, and is left out until all have it.
 */
export function sumOf(series: readonly (readonly IoPoint[])[]): IoPoint[] {
  const sums = new Map<number, IoPoint>();
  const until = commonEnd(series);
  for (const points of series) {
    for (const point of points) {
      if (point.point > until) continue;
      const before = sums.get(point.point);
      sums.set(point.point, before ? together(before, point) : point);
    }
  }
  return [...sums.values()].sort((a, b) => a.point - b.point);
}

/** The newest moment that all have reached. A series without new points for longer than a reply takes is left out. */
function commonEnd(series: readonly (readonly IoPoint[])[]): number {
  const ends = series.flatMap((points) => points.at(-1)?.point ?? []);
  const newest = Math.max(...ends);
  const [before = newest, last = newest] = (series.find((points) => points.at(-1)?.point === newest) ?? [])
    .slice(-2)
    .map(({ point }) => point);
  const late = newest - LATE_POINTS_MAX * (last - before);
  return Math.min(...ends.filter((end) => end >= late));
}

function together(a: IoPoint, b: IoPoint): IoPoint {
  return {
    point: a.point,
    rd_iops: a.rd_iops + b.rd_iops,
    wrt_iops: a.wrt_iops + b.wrt_iops,
    rd_bandwidth: a.rd_bandwidth + b.rd_bandwidth,
    wrt_bandwidth: a.wrt_bandwidth + b.wrt_bandwidth,
    rd_queue_len: a.rd_queue_len + b.rd_queue_len,
    wrt_queue_len: a.wrt_queue_len + b.wrt_queue_len,
    rd_iotime: weighted(a.rd_iotime, a.rd_iops, b.rd_iotime, b.rd_iops),
    wrt_iotime: weighted(a.wrt_iotime, a.wrt_iops, b.wrt_iotime, b.wrt_iops),
  };
}

function weighted(a: number, ofA: number, b: number, ofB: number): number {
  return ofA + ofB === 0 ? Math.max(a, b) : (a * ofA + b * ofB) / (ofA + ofB);
}
