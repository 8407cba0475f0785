import { gigabytes } from '../../parts/format.ts';
import type { Policy } from '../records.ts';

const HOUR = 60;
const DAY = 24 * HOUR;
/** Beyond it, an hour of growth says nothing. */
const SHOWN_DAYS_MAX = 365;

/** By the growth of the last hour, as the array's own alert. */
export function untilFull(minutes: number | null): string {
  if (minutes === null) return 'no growth measured';
  if (minutes > SHOWN_DAYS_MAX * DAY) return 'grows slowly';
  if (minutes === 0) return 'full';
  return `full in ${timeOf(minutes)} at the pace of the last hour`;
}

function timeOf(minutes: number): string {
  if (minutes >= 2 * DAY) return `${Math.trunc(minutes / DAY)} days`;
  if (minutes >= 2 * HOUR) return `${Math.trunc(minutes / HOUR)} hours`;
  return `${minutes} minutes`;
}

/** How it keeps what it holds, and what that survives. */
export function protectionOf({
  number_of_mirrors: copies,
  data_fragments: data,
  parity_fragments: parity,
}: Pick<Policy, 'number_of_mirrors' | 'data_fragments' | 'parity_fragments'>): string {
  if (copies > 0) return `${copies} copies; survives the loss of ${drives(copies - 1)}`;
  return `${data} data and ${parity} parity fragments; survives the loss of ${drives(parity)}`;
}

/** What of an amount on drives, in GB, are objects: the rest is further copies, or parity. */
export function withoutCopies(
  {
    number_of_mirrors: copies,
    data_fragments: data,
    parity_fragments: parity,
  }: Pick<Policy, 'number_of_mirrors' | 'data_fragments' | 'parity_fragments'>,
  amount: number,
): number {
  return copies > 0 ? amount / copies : (amount * data) / (data + parity);
}

/** Beside a bar of what its drives hold. */
export function onDrives(used: number, capacity: number): string {
  return `${gigabytes(used)} of ${gigabytes(capacity)} on drives, with copies and parity`;
}

function drives(count: number): string {
  return count === 1 ? 'one drive' : `${count} drives`;
}

export function isRebalancing({ rebalance_status: status }: Pick<Policy, 'rebalance_status'>): boolean {
  return status !== 'done';
}
