import 'uplot/dist/uPlot.min.css';
import { Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { billMark, timeMark, timeMarkWhole } from './format.ts';
import type { Line } from './line.ts';

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** How a value is written in the legend, and at the axis if that has no way of its own. */
  readonly format: (value: number) => string;
  readonly formatMark?: (value: number) => string;
  readonly height?: number;
  /** Values are bytes or MiB: the axis is marked at powers of two, as they are written. */
  readonly isBytes?: boolean;
  /** Days or months of a bill, in UTC: bars, those of one time on top of each other. */
  readonly isBars?: boolean;
}

const COLORS = ['#0ca678', '#1c7ed6', '#f08c00', '#ae3ec9', '#e03131', '#66a80f'];

/** Each line stands on those after it. */
function stacked(lines: readonly Line[]): (number | null)[][] {
  let below: (number | null)[] = [];
  return lines
    .toReversed()
    .map(({ values }) => {
      below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
      return below;
    })
    .toReversed();
}

/** Of bytes, and of MiB: up to the number that a number can hold exactly. */
const BYTE_STEPS = Array.from({ length: 73 }, (_, power) => 2 ** (power - 20));
/** No quarters: one decimal would write 0.25 as 0.3. Finer ones where an axis has a way of its own to write them. */
const stepsFrom = (least: number) =>
  Array.from({ length: 16 - least }, (_, at) => [1, 2, 5].map((n) => n * 10 ** (at + least))).flat();
const COUNT_STEPS = stepsFrom(-1);
const FINE_STEPS = stepsFrom(-9);
const MARK_PIXELS = 7;
const MARK_GAP_PIXELS = 16;
/** About what two marks of time are apart. */
const MARK_DISTANCE_PIXELS = 70;

const LONE_SPAN_S = 600;

/** Of a single point, the minutes before it: the library would add years to its time. */
function spanOf({ data: [times] }: uPlot, from: number, to: number): [number, number] {
  const [first] = times;
  return first !== undefined && first === times.at(-1) ? [first - LONE_SPAN_S, first] : [from, to];
}

/** What somebody has zoomed into stays in view while newer points come. */
function update(plot: uPlot, data: uPlot.AlignedData): void {
  const { min, max } = plot.scales['x'] ?? {};
  const [from, to] = [plot.data[0][0], plot.data[0].at(-1)];
  const isKnown = typeof min === 'number' && typeof max === 'number' && from !== undefined && to !== undefined;
  const isZoomed = isKnown && (min > from || max < to);
  plot.setData(data, !isZoomed);
  if (isZoomed) plot.setScale('x', { min, max });
}

function copied({ values }: Line): (number | null)[] {
  return [...values];
}

type Mark = (date: Date, seconds: number) => string;

/** The marks of an axis by how far they are apart. */
function marksBy(mark: Mark): (_: uPlot, marks: number[]) => string[] {
  return (_, marks) => {
    const [first = 0, second = first] = marks;
    return marks.map((at) => mark(new Date(at * 1000), second - first));
  };
}

/** What lies between two marks of time, so that none is written over the next. */
function distanceOfMarks(mark: Mark): uPlot.Axis.Space {
  return (_, __, from, to, pixels) => {
    const seconds = ((to - from) * MARK_DISTANCE_PIXELS) / Math.max(1, pixels);
    return MARK_GAP_PIXELS + MARK_PIXELS * mark(new Date(to * 1000), seconds).length;
  };
}

/** As wide as its longest mark asks for. */
function widthOfMarks(_: uPlot, marks: string[] | null): number {
  return 24 + MARK_PIXELS * Math.max(4, ...(marks ?? []).map((mark) => mark.length));
}

/** Lines over time. The same figures are in a table for readers of screens by the page that shows it. */
export function Chart(props: ChartProps) {
  const { title, times, lines, format, formatMark = format, height = 180, isBars = false, isBytes = false } = props;
  const target = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const isEmpty = times.length === 0;
  const scheme = useComputedColorScheme('light');
  const names = lines.map(({ label }) => label).join('\n');
  const writing = useRef(format);
  writing.current = format;
  const hasOwnMarks = props.formatMark !== undefined;
  const marking = useRef(formatMark);
  marking.current = formatMark;
  const own = useRef(lines);
  own.current = lines;
  const shownTimes = useRef(times);
  shownTimes.current = times;

  useEffect(() => {
    const element = target.current;
    if (!element) return;
    const stroke = scheme === 'dark' ? '#c9c9c9' : '#495057';
    const grid = { stroke: scheme === 'dark' ? '#2e2e2e' : '#e9ecef', width: 1 };
    const writeTime = (at: number | undefined) => {
      const [before = 0, after = before] = shownTimes.current.slice(-2);
      return at === undefined ? '–' : (isBars ? billMark : timeMarkWhole)(new Date(at * 1000), after - before);
    };
    const write = (value: number | null) => (value === null ? '–' : writing.current(value));
    const mark = isBars ? billMark : timeMark;
    const bars = isBars && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.6, 60] }) } : {};
    plot.current = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        // Half of the last mark stands beyond the last point.
        padding: [null, 32, null, null],
        cursor: { points: { size: 6 } },
        ...(isBars
          ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'UTC') }
          : { scales: { x: { range: spanOf } } }),
        axes: [
          { stroke, grid, values: marksBy(mark), space: distanceOfMarks(mark) },
          {
            stroke,
            grid,
            size: widthOfMarks,
            values: (_, ticks) => ticks.map((tick) => marking.current(tick)),
            incrs: isBytes ? BYTE_STEPS : hasOwnMarks ? FINE_STEPS : COUNT_STEPS,
          },
        ],
        series: [
          { label: 'Time', value: (_, at: number | null) => writeTime(at ?? shownTimes.current.at(-1)) },
          ...names.split('\n').map((label, index) => ({
            label,
            stroke: COLORS[index % COLORS.length] as string,
            ...(isBars && { fill: COLORS[index % COLORS.length] as string, points: { show: false } }),
            width: 1.5,
            // At rest, the newest one.
            value: (_: uPlot, __: number | null, ___: number, at: number | null) => {
              const { values = [] } = own.current[index] ?? {};
              return write((at === null ? values.at(-1) : values[at]) ?? null);
            },
            ...bars,
          })),
        ],
      },
      [[], ...names.split('\n').map(() => [])],
      element,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names, scheme, height, isBars, isBytes, hasOwnMarks, isEmpty]);

  useEffect(() => {
    if (plot.current) update(plot.current, [[...times], ...(isBars ? stacked(lines) : lines.map(copied))]);
  }, [times, lines, names, scheme, height, isBars, isBytes, hasOwnMarks, isEmpty]);

  if (isEmpty)
    return (
      <Text c="dimmed" size="sm" h={height}>
        No figures yet.
      </Text>
    );
  const last = lines.map(({ label, values }) => `${label} ${lastOf(values, format)}`).join(', ');
  return <div ref={target} role="img" aria-label={`${title}: ${last}`} />;
}

function lastOf(values: readonly (number | null)[], format: (value: number) => string): string {
  const value = values.findLast((one) => one !== null);
  return typeof value === 'number' ? format(value) : 'no figure';
}
