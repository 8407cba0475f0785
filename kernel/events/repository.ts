import { generated, plain, Table } from '../records/table.ts';
import type { Db, Tx } from '../store/index.ts';

export interface RecordedEvent {
  readonly id: number;
  readonly createdAt: number;
  readonly severity: number;
  readonly title: string;
  readonly subject: string;
  readonly actor: string;
}

/** Which events; null leaves a condition out. */
export interface EventCondition {
  readonly severityMin: number;
  readonly severityMax: number;
  readonly subject: string | null;
  readonly subjectKind: string | null;
}

export interface EventOrdering {
  readonly by: 'id' | 'title' | 'severity' | 'createdAt';
  readonly direction: 'ASC' | 'DESC';
}

const events = new Table<RecordedEvent, 'id'>('events', {
  id: generated('id'),
  createdAt: plain('created_at'),
  severity: plain('severity'),
  title: plain('title'),
  subject: plain('subject'),
  actor: plain('actor'),
});

const WHERE = `WHERE severity BETWEEN :severityMin AND :severityMax AND (:subject IS NULL OR subject = :subject)
  AND (:subjectKind IS NULL OR substr(subject, 1, length(:subjectKind) + 1) = :subjectKind || ':')`;
const COLUMNS = { id: 'id', title: 'title', severity: 'severity', createdAt: 'created_at' } as const;

export function insertEvent(tx: Tx, event: Omit<RecordedEvent, 'id'>): number {
  return events.insert(tx, event);
}

export function deleteEventsUpTo(tx: Tx, id: number): void {
  tx.run('DELETE FROM events WHERE id <= :id', { id });
}

/** 0 when there is none. */
export function lastEventId(db: Db): number {
  return db.get<{ id: number | null }>('SELECT max(id) AS id FROM events')?.id ?? 0;
}

const AFTER = 'WHERE id > :id AND severity <= :severityMax';

export function listEventsAfter(db: Db, id: number, severityMax: number, limit: number): RecordedEvent[] {
  const sql = `SELECT ${events.fields()} FROM events ${AFTER} ORDER BY id LIMIT :limit`;
  return events.all(db, sql, { id, severityMax, limit });
}

export function countEventsAfter(db: Db, id: number, severityMax: number): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM events ${AFTER}`, { id, severityMax })?.n ?? 0;
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
