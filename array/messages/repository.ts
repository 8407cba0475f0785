import type { Db, MailedEvent } from '@granary/kernel';

/** The setting that remembers how far the events have been mailed. */
export const MAILED_EVENT = 'mailed_event';

export function lastEventId(db: Db): number {
  return db.get<{ id: number | null }>('SELECT max(id) AS id FROM events')?.id ?? 0;
}

/** Those after an event that are at least so severe, oldest first. */
export function listEventsAfter(db: Db, id: number, severity: number, limit: number): MailedEvent[] {
  return db.all<MailedEvent>(
    `SELECT id, created_at AS createdAt, severity, title FROM events
     WHERE id > :id AND severity <= :severity ORDER BY id LIMIT :limit`,
    { id, severity, limit },
  );
}

export function countEventsAfter(db: Db, id: number, severity: number): number {
  const sql = 'SELECT count(*) AS n FROM events WHERE id > :id AND severity <= :severity';
  return db.get<{ n: number }>(sql, { id, severity })?.n ?? 0;
}
