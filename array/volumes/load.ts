import type { IoTotals, OperationTotals } from '../engine/report.ts';
import { MB } from '../units.ts';
import type { Volume } from './volume.ts';

/** What is averaged, and which field of a volume limits it. */
export const measures = [
  { limit: 'readIopsLimit', of: 'reads', what: 'reads a second', average: perSecond },
  { limit: 'readMbpsLimit', of: 'reads', what: 'MB read a second', average: megabytes },
  { limit: 'readLatencyLimit', of: 'reads', what: 'milliseconds a read', average: latency },
  { limit: 'writeIopsLimit', of: 'writes', what: 'writes a second', average: perSecond },
  { limit: 'writeMbpsLimit', of: 'writes', what: 'MB written a second', average: megabytes },
  { limit: 'writeLatencyLimit', of: 'writes', what: 'milliseconds a write', average: latency },
] as const;

export type Measure = (typeof measures)[number];

export interface Crossing {
  readonly measure: Measure;
  readonly limit: number;
  readonly average: number;
  /** Otherwise it is back. */
  readonly isAbove: boolean;
}

interface Sample {
  atMs: number;
  readonly io: IoTotals;
}

const WINDOW_MS = 60_000;
/** Samples do not come to the millisecond; this much of a minute is one. */
const WINDOW_MS_MIN = 55_000;

/** The load of one volume over the last minute, and which of its limits it is above. */
export class VolumeLoad {
  #samples: Sample[] = [];
  readonly #above = new Set<Measure>();

  /** Notes the totals, and says which limits were crossed since. */
  record(volume: Volume, io: IoTotals, atMs: number): Crossing[] {
    this.#add({ atMs, io });
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.atMs - first.atMs < WINDOW_MS_MIN) return [];
    const seconds = (last.atMs - first.atMs) / 1000;
    return measures.flatMap((measure) => {
      const average = measure.average(between(first.io[measure.of], last.io[measure.of]), seconds);
      return this.#crossingOf(measure, volume[measure.limit], average);
    });
  }

  #crossingOf(measure: Measure, limit: number, average: number): Crossing[] {
    const isAbove = limit > 0 && average > limit;
    if (isAbove === this.#above.has(measure)) return [];
    if (isAbove) this.#above.add(measure);
    else this.#above.delete(measure);
    // A limit that was taken away is no news.
    return limit === 0 ? [] : [{ measure, limit, average, isAbove }];
  }

  #add(sample: Sample): void {
    const [before, last] = this.#samples.slice(-2);
    // A new controller counts from zero.
    if (last && (sample.io.reads.count < last.io.reads.count || sample.io.writes.count < last.io.writes.count))
      this.#samples = [];
    // While nothing happens the last sample stands for all of that time.
    else if (before && last && before.io === last.io && last.io === sample.io) {
      last.atMs = sample.atMs;
      sample = last;
      this.#samples.pop();
    }
    this.#samples.push(sample);
    const oldest = sample.atMs - WINDOW_MS;
    // One at least as old as the window stays: averages run from there.
    while (this.#samples.length > 2 && (this.#samples[1]?.atMs ?? Infinity) <= oldest) this.#samples.shift();
  }
}

function between(from: OperationTotals, to: OperationTotals): OperationTotals {
  return {
    count: to.count - from.count,
    bytes: to.bytes - from.bytes,
    microseconds: to.microseconds - from.microseconds,
  };
}

function perSecond({ count }: OperationTotals, seconds: number): number {
  return count / seconds;
}

function megabytes({ bytes }: OperationTotals, seconds: number): number {
  return bytes / MB / seconds;
}

function latency({ count, microseconds }: OperationTotals): number {
  return count === 0 ? 0 : microseconds / count / 1000;
}
