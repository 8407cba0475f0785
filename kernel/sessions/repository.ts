import { sqlPage, type Page } from '../records/paging.ts';
import { generated, plain, Table } from '../records/table.ts';
import type { Db, Tx } from '../store/index.ts';
import type { Session } from './session.ts';

const sessions = new Table<Session, 'id'>('sessions', {
  id: generated('id'),
  user: plain('user'),
  valueMark: plain('value_mark'),
  createdAt: plain('created_at'),
  seenAt: plain('seen_at'),
  ip: plain('ip'),
  userAgent: plain('user_agent'),
});

const SELECT = `SELECT ${sessions.fields()} FROM sessions`;
const OF_USER = '(:user IS NULL OR user = :user)';

export function insertSession(tx: Tx, session: Omit<Session, 'id'>): number {
  return sessions.insert(tx, session);
}

export function findSession(db: Db, id: number): Session | undefined {
  return sessions.get(db, `${SELECT} WHERE id = :id`, { id });
}

export function findSessionByMark(db: Db, mark: string): Session | undefined {
  return sessions.get(db, `${SELECT} WHERE value_mark = :mark`, { mark });
}

/** Of one user, or of all when it is null. */
export function listSessions(db: Db, user: string | null, page: Page): Session[] {
  const sql = `${SELECT} WHERE ${OF_USER} ORDER BY id LIMIT :limit OFFSET :start`;
  return sessions.all(db, sql, { user, ...sqlPage(page) });
}

export function countSessions(db: Db, user: string | null): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM sessions WHERE ${OF_USER}`, { user })?.n ?? 0;
}

export function updateSeen(tx: Tx, id: number, seenAt: number): void {
  sessions.update(tx, { id }, { seenAt });
}

/** Whether it was there. */
export function deleteSession(tx: Tx, id: number): boolean {
  return tx.run('DELETE FROM sessions WHERE id = :id', { id }).changes > 0;
}

/** What may have ended: last written as seen, or made, so long ago. */
export function listSessionsBefore(db: Db, times: { seenBefore: number; createdBefore: number }): Session[] {
  return sessions.all(db, `${SELECT} WHERE seen_at <= :seenBefore OR created_at <= :createdBefore`, times);
}
