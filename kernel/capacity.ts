import { assert } from './assert.ts';
import type { Brand } from './records/brand.ts';

/**
 * How capacities are shown: in GB of 2^30 bytes, and always cut, never rounded up. Fields that are whole numbers are
 * cut to whole GB, all others to whole MB. Requests are counted in whole MB as well, so whatever a record shows can be
 * asked for.
 */
export const MB = 2 ** 20;
export const GB = 2 ** 30;

/** A size in bytes, distinct from gigabytes, blocks or counts. */
export type Bytes = Brand<number, 'bytes'>;

export function bytes(size: number): Bytes {
  assert(Number.isSafeInteger(size) && size >= 0, `${size} is a number of bytes`);
  return size as Bytes;
}

/** For fields that are whole numbers. */
export function wholeGigabytes(bytes: number): number {
  return Math.floor(bytes / GB);
}

/** For fields with a fraction. Exact: a 1,024th is a binary fraction. */
export function gigabytes(bytes: number): number {
  return wholeMegabytes(bytes) / (GB / MB);
}

export function wholeMegabytes(bytes: number): number {
  return Math.floor(bytes / MB);
}

/** What is used, as the records have it: what they show as free is cut to whole MB, so a part of one is used. */
export function usedAsRecorded(bytes: number): number {
  return Math.ceil(bytes / MB) * MB;
}

/** For messages and events: two decimals at most. */
export function capacityText(bytes: number): string {
  const [unit, name] = bytes >= GB ? ([GB, 'GiB'] as const) : ([MB, 'MiB'] as const);
  return `${Math.floor((bytes / unit) * 100) / 100} ${name}`;
}
