import type { BilledArray } from '../arrays/repository.ts';
import type { Span } from '../metering/repository.ts';
import type { Shares } from './amount.ts';
import type { BillLine } from './bill.ts';
import { takeInTurns } from './turns.ts';

export type Sums = ReadonlyMap<string, Shares>;

export interface PeriodSums {
  readonly from: number;
  readonly kinds: Sums;
}

export interface Summary {
  readonly arrays: ReadonlyMap<BilledArray, Sums>;
  readonly periods: readonly PeriodSums[];
}

export type PeriodLength = 'day' | 'month';

/** When the periods of a span begin: days or months of UTC, the first where the span begins. */
export function periodStarts({ from, to }: Span, per: PeriodLength): number[] {
  const starts: number[] = [];
  for (let start = from; start < to; start = nextPeriod(start, per)) starts.push(start);
  return starts;
}

function nextPeriod(time: number, per: PeriodLength): number {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return per === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

/**
 * The exact sums of a bill, by array and by period, of each kind of item. A line that spans periods is split among them:
 * its amount is a whole number of shares for each millisecond, so nothing is rounded.
 */
export async function summaryOf(lines: Iterable<BillLine>, span: Span, per: PeriodLength): Promise<Summary> {
  const starts = periodStarts(span, per);
  const periods = starts.map((from) => ({ from, kinds: new Map<string, Shares>() }));
  const arrays = new Map<BilledArray, Map<string, Shares>>();
  await takeInTurns(lines, (line) => {
    if (line.to <= line.from) return;
    const kind = line.item.replace(/:.*$/, '');
    const sums = arrays.get(line.array) ?? new Map<string, Shares>();
    arrays.set(line.array, sums);
    add(sums, kind, line.amount);
    const perMs = line.amount / BigInt(line.to - line.from);
    for (let at = periodOf(starts, line.from); at < periods.length; at += 1) {
      const begin = Math.max(line.from, starts[at] as number);
      const end = Math.min(line.to, starts[at + 1] ?? span.to);
      if (end <= begin) break;
      add((periods[at] as (typeof periods)[number]).kinds, kind, perMs * BigInt(end - begin));
    }
  });
  return { arrays, periods };
}

/** The last that begins by then. */
function periodOf(starts: readonly number[], time: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function add(sums: Map<string, Shares>, kind: string, amount: Shares): void {
  sums.set(kind, (sums.get(kind) ?? 0n) + amount);
}
