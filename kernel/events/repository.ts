import { LOGIN_KIND } from '@granary/contract';
import { generated, plain, Table } from '../records/table.ts';
import type { Db, Tx } from '../store/index.ts';

export interface RecordedEvent {
  readonly id: number;
  readonly createdAt: number;
  readonly severity: number;
  readonly title: string;
  readonly subject: string;
  readonly actor: string;
  readonly kind: string;
}

/** Which events; null leaves a condition out. */
export interface EventCondition {
  readonly severityMin: number;
  readonly severityMax: number;
  readonly subject: string | null;
  readonly subjectKind: string | null;
  readonly kind: string | null;
  /** 0 leaves out logins without a problem. */
  readonly withLogins: number;
}

export interface EventOrdering {
  readonly by: 'id' | 'title' | 'severity' | 'createdAt';
  readonly direction: 'ASC' | 'DESC';
}

/** Severities above it are problems. */
const INFO = 6;

const events = new Table<RecordedEvent, 'id'>('events', {
  id: generated('id'),
  createdAt: plain('created_at'),
  severity: plain('severity'),
  title: plain('title'),
  subject: plain('subject'),
  actor: plain('actor'),
  kind: plain('kind'),
});

const WHERE = `WHERE severity BETWEEN :severityMin AND :severityMax AND (:subject IS NULL OR subject = :subject)
  AND (:subjectKind IS NULL OR substr(subject, 1, length(:subjectKind) + 1) = :subjectKind || ':')
  AND (:kind IS NULL OR kind = :kind) AND (:withLogins OR kind <> '${LOGIN_KIND}' OR severity < ${INFO})`;
const COLUMNS = { id: 'id', title: 'title', severity: 'severity', createdAt: 'created_at' } as const;

export function insertEvent(tx: Tx, event: Omit<RecordedEvent, 'id'>): number {
  return events.insert(tx, event);
}

interface Kept {
  readonly othersMax: number;
  readonly loginsMax: number;
}

/** Keeps the newest events, with one limit for logins and one for all others. */
export function trimEvents(tx: Tx, { othersMax, loginsMax }: Kept): void {
  const oldest = (kind: string) => `SELECT id FROM events WHERE kind ${kind} ORDER BY id DESC LIMIT 1 OFFSET :max`;
  for (const [kind, max] of [
    [`= '${LOGIN_KIND}'`, loginsMax],
    [`<> '${LOGIN_KIND}'`, othersMax],
  ] as const)
    tx.run(`DELETE FROM events WHERE kind ${kind} AND id <= (${oldest(kind)})`, { max });
}

/** 0 when there is none. */
export function lastEventId(db: Db): number {
  return db.get<{ id: number | null }>('SELECT max(id) AS id FROM events')?.id ?? 0;
}

const AFTER = `WHERE id > :id AND severity <= :severityMax AND (kind <> '${LOGIN_KIND}' OR severity < ${INFO})`;

export function listEventsAfter(db: Db, id: number, severityMax: number, limit: number): RecordedEvent[] {
  const sql = `SELECT ${events.fields()} FROM events ${AFTER} ORDER BY id LIMIT :limit`;
  return events.all(db, sql, { id, severityMax, limit });
}

export function countEventsAfter(db: Db, id: number, severityMax: number): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM events ${AFTER}`, { id, severityMax })?.n ?? 0;
}

/** What a receiver wants to know. */
export interface WantedEvents {
  readonly severityMax: number;
  /** Null is all but logins. */
  readonly kinds: readonly string[] | null;
}

const WANTED = `WHERE id > :after AND severity <= :severityMax AND
  CASE WHEN :kinds IS NULL THEN kind <> '${LOGIN_KIND}' ELSE kind IN (SELECT value FROM json_each(:kinds)) END`;

function wantedParams({ severityMax, kinds }: WantedEvents, after: number) {
  return { after, severityMax, kinds: kinds && JSON.stringify(kinds) };
}

/** The oldest that is wanted after that number. */
export function nextWantedEvent(db: Db, wanted: WantedEvents, after: number): RecordedEvent | undefined {
  const sql = `SELECT ${events.fields()} FROM events ${WANTED} ORDER BY id LIMIT 1`;
  return events.get(db, sql, wantedParams(wanted, after));
}

export function countWantedEvents(db: Db, wanted: WantedEvents, after: number): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM events ${WANTED}`, wantedParams(wanted, after))?.n ?? 0;
}

/** The newest that is wanted but for so many; undefined where there are no more than those. */
export function wantedEventBefore(db: Db, wanted: WantedEvents, after: number, newest: number): number | undefined {
  const sql = `SELECT id FROM events ${WANTED} ORDER BY id DESC LIMIT 1 OFFSET :newest`;
  return db.get<{ id: number }>(sql, { ...wantedParams(wanted, after), newest })?.id;
}

/** A limit of 0 is none. */
export function listEvents(
  db: Db,
  condition: EventCondition,
  { order, start, limit }: { order: readonly EventOrdering[]; start: number; limit: number },
): RecordedEvent[] {
  const by = order.map((one) => `${COLUMNS[one.by]} ${one.direction === 'ASC' ? 'ASC' : 'DESC'}`).join(', ');
  const sql = `SELECT ${events.fields()} FROM events ${WHERE} ORDER BY ${by} LIMIT :limit OFFSET :start`;
  return events.all(db, sql, { ...condition, limit: limit === 0 ? -1 : limit, start });
}

export function countEvents(db: Db, condition: EventCondition): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM events ${WHERE}`, { ...condition })?.n ?? 0;
}
