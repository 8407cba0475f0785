import { randomBytes } from 'node:crypto';
import type { AccessLogging, Bucket } from '@granary/storage/object-store';

const UNIQUE_BYTES = 8;

interface Named {
  readonly source: Pick<Bucket, 'account' | 'name'>;
  readonly region: string;
  readonly now: number;
  /** When its first line's request came. */
  readonly eventAt: number;
}

/** What an object of lines is called, in the form that was asked for. */
export function objectName(
  { targetPrefix, keyFormat }: AccessLogging,
  { source, region, now, eventAt }: Named,
): string {
  const unique = randomBytes(UNIQUE_BYTES).toString('hex').toUpperCase();
  if (keyFormat === undefined || keyFormat === 'simple') return `${targetPrefix}${timeText(now)}-${unique}`;
  // By the time of the event all of a day is in one place, whatever the hour.
  const time = keyFormat === 'event-time' ? `${dayOf(eventAt)}-00-00-00` : timeText(now);
  const [year, month, day] = time.split('-');
  return `${targetPrefix}${source.account}/${region}/${source.name}/${year}/${month}/${day}/${time}-${unique}`;
}

/** `2026-02-06` */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function timeText(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-');
}
