type Labels = Readonly<Record<string, string>>;

/** A figure that the service computes itself: read when metrics are collected. */
export interface SimpleMeasure {
  readonly name: string;
  readonly help: string;
  /** A counter grows, and may start again at zero with the process or a part of it. */
  readonly type: 'gauge' | 'counter';
  read(): Readings | Promise<Readings>;
}

type Readings = Iterable<{ readonly labels: Labels; readonly value: number }>;

/** A distribution that the service counts itself. */
export interface HistogramMeasure {
  readonly name: string;
  readonly help: string;
  readonly type: 'histogram';
  read(): Iterable<HistogramReading>;
}

export interface HistogramReading {
  readonly labels: Labels;
  /** Upper bounds, ascending. */
  readonly ends: readonly number[];
  /** How many fell into each bucket alone; one more than `ends`: the last is without bound. */
  readonly counts: readonly number[];
  /** Of all values; absent where it is not known. */
  readonly sum?: number;
}

export type Measure = SimpleMeasure | HistogramMeasure;

/** A line of Prometheus' text format. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

export async function samplesOf(measure: Measure): Promise<Sample[]> {
  if (measure.type !== 'histogram') return [...(await measure.read())];
  return [...measure.read()].flatMap((reading) => [...histogramSamples(measure.name, reading)]);
}

/** One line for each state that something may be in: 1 for the present one, 0 for the others. */
export function* stateSamples<T extends string>(
  labels: Labels,
  states: readonly T[],
  present: T,
): Generator<{ labels: Labels; value: number }> {
  for (const state of states) yield { labels: { ...labels, state }, value: Number(state === present) };
}

/** Prometheus' buckets are cumulative: each counts all values up to its end. */
function* histogramSamples(name: string, { labels, ends, counts, sum }: HistogramReading): Generator<Sample> {
  let cumulative = 0;
  for (const [index, count] of counts.entries()) {
    cumulative += count;
    const end = ends[index];
    const le = end === undefined ? '+Inf' : String(end);
    yield { metricName: `${name}_bucket`, labels: { ...labels, le }, value: cumulative };
  }
  if (sum !== undefined) yield { metricName: `${name}_sum`, labels, value: sum };
  yield { metricName: `${name}_count`, labels, value: cumulative };
}
