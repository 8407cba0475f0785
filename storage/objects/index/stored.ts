import type { Reads, Transaction } from '@granary/kernel/sqlite';
import type { StoredUsage } from '../records.ts';
import type { Step } from './tally.ts';

export const DAY_MS = 86_400_000;

/** The present, with the integral since the midnight (UTC) before `at`, when it last changed. */
interface OpenRow {
  readonly account: string;
  readonly policy: number;
  readonly buckets: number;
  readonly objects: number;
  readonly bytes: number;
  readonly at: number;
  readonly area: string;
}

/** A day in which something changed: its integral, and what there was at its end, which holds until the next such day. */
interface DayRow {
  readonly day: number;
  readonly area: string;
  readonly bytes: number;
  readonly objects: number;
  readonly buckets: number;
}

/** Applies changes of one account and policy, in the order they were committed. Time never goes back: a clock that does stands still. */
export function advance(db: Transaction, steps: readonly Step[]): void {
  const [first] = steps;
  if (!first) return;
  const { account, policy } = first;
  const row = db.get<OpenRow>('SELECT * FROM usage WHERE account = ? AND policy = ?', account, policy);
  let { at, bytes, objects, buckets } = row ?? { at: first.at, bytes: 0, objects: 0, buckets: 0 };
  let area = BigInt(row?.area ?? 0);
  for (const step of steps) {
    const now = Math.max(at, step.at);
    const midnight = startOfDay(at) + DAY_MS;
    if (now >= midnight) {
      area += areaOf(bytes, midnight - at);
      const values = [Math.floor(at / DAY_MS), String(area), bytes, objects, buckets];
      db.run('INSERT INTO stored VALUES (?, ?, ?, ?, ?, ?, ?)', account, policy, ...values);
      area = areaOf(bytes, now - startOfDay(now));
    } else area += areaOf(bytes, now - at);
    at = now;
    bytes += step.bytes;
    objects += step.objects;
    buckets += step.buckets;
  }
  const values = [buckets, objects, bytes, at, String(area)];
  db.run('INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?, ?)', account, policy, ...values);
}

/**
 * What was stored from one midnight (UTC) to another, or to the present. Of all accounts when none is named; who never
 * stored anything until then is left out.
 */
export function storedOver(db: Reads, account: string | null, from: number, to: number): StoredUsage[] {
  const rows =
    account === null
      ? db.all<OpenRow>('SELECT * FROM usage ORDER BY account, policy')
      : db.all<OpenRow>('SELECT * FROM usage WHERE account = ? ORDER BY policy', account);
  return rows.map((row) => usageOver(db, row, startOfDay(from), to)).filter((usage) => usage !== undefined);
}

function usageOver(db: Reads, open: OpenRow, from: number, to: number): StoredUsage | undefined {
  let known: Omit<DayRow, 'area' | 'day'> | undefined = dayBefore(db, open, from / DAY_MS);
  let at = from;
  let sum = 0n;
  const hold = (until: number): void => {
    if (until <= at) return;
    sum += areaOf(known?.bytes ?? 0, until - at);
    at = until;
  };
  for (const day of daysIn(db, open, from / DAY_MS, to / DAY_MS)) {
    hold(day.day * DAY_MS);
    sum += BigInt(day.area);
    at = (day.day + 1) * DAY_MS;
    known = day;
  }
  const opened = startOfDay(open.at);
  if (opened < to) {
    if (opened >= from) {
      hold(opened);
      sum += BigInt(open.area);
      at = Math.max(at, open.at);
    }
    known = open;
  }
  hold(to);
  if (!known) return undefined;
  const { bytes, objects, buckets } = known;
  return { account: open.account, policy: open.policy, byteMilliseconds: sum, bytes, objects, buckets };
}

function dayBefore(db: Reads, { account, policy }: OpenRow, day: number): DayRow | undefined {
  const sql = 'SELECT * FROM stored WHERE account = ? AND policy = ? AND day < ? ORDER BY day DESC LIMIT 1';
  return db.get<DayRow>(sql, account, policy, day);
}

function daysIn(db: Reads, { account, policy }: OpenRow, from: number, to: number): DayRow[] {
  const sql = 'SELECT * FROM stored WHERE account = ? AND policy = ? AND day >= ? AND day < ? ORDER BY day';
  return db.all<DayRow>(sql, account, policy, from, to);
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

function areaOf(bytes: number, milliseconds: number): bigint {
  return BigInt(bytes) * BigInt(milliseconds);
}
