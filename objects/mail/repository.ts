import type { Db, MailedEvent, Tx } from '@granary/kernel';

export interface LetterRow {
  readonly id: number;
  readonly recipient: string;
  /** Subject and text, sealed. */
  readonly sealed: string;
  readonly attempts: number;
  readonly send_after: number;
  readonly created_at: number;
}

export function insertLetter(tx: Tx, letter: { recipient: string; sealed: string; now: number }): void {
  tx.run(`INSERT INTO letters (recipient, sealed, send_after, created_at) VALUES (:recipient, :sealed, :now, :now)`, {
    ...letter,
  });
}

export function countLetters(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM letters')?.n ?? 0;
}

export function nextLetter(db: Db, now: number): LetterRow | undefined {
  return db.get<LetterRow>('SELECT * FROM letters WHERE send_after <= :now ORDER BY send_after, id LIMIT 1', { now });
}

export function putOffLetter(tx: Tx, id: number, until: number): void {
  tx.run('UPDATE letters SET attempts = attempts + 1, send_after = :until WHERE id = :id', { id, until });
}

export function deleteLetter(tx: Tx, id: number): void {
  tx.run('DELETE FROM letters WHERE id = :id', { id });
}

/** What somebody may want to be told of. */
export interface ToldEvent extends MailedEvent {
  readonly subject: string;
}

export interface Recipient {
  readonly email: string;
  readonly account: string;
  readonly is_admin: number;
  readonly severity: number;
}

const MAILED_EVENT = 'mailed_event';

export function lastEventId(db: Db): number {
  return db.get<{ id: number | null }>('SELECT max(id) AS id FROM events')?.id ?? 0;
}

export function eventsAfter(db: Db, id: number, limit: number): ToldEvent[] {
  const sql = `SELECT id, created_at, severity, title, subject FROM events WHERE id > :id ORDER BY id LIMIT :limit`;
  return db.all<ToldEvent>(sql, { id, limit });
}

/** How far the events have been told; undefined before the first time. */
export function mailedEvent(db: Db): number | undefined {
  const row = db.get<{ value: string }>('SELECT value FROM settings WHERE key = :key', { key: MAILED_EVENT });
  return row && Number(row.value);
}

export function setMailedEvent(tx: Tx, id: number): void {
  tx.run('INSERT INTO settings VALUES (:key, :value) ON CONFLICT DO UPDATE SET value = excluded.value', {
    key: MAILED_EVENT,
    value: String(id),
  });
}

const RECIPIENT = `SELECT users.email, accounts.name AS account, users.role = 'objs_admin' AS is_admin,
    users.notification_severity AS severity
  FROM users JOIN accounts ON accounts.id = users.account_id
  WHERE users.notify_on_events = 1 AND users.locked = 0 AND users.email IS NOT NULL`;

/** Those who administer the array: they are told of everything. */
export function notifiedAdmins(db: Db, limit: number): Recipient[] {
  return db.all<Recipient>(`${RECIPIENT} AND users.role = 'objs_admin' ORDER BY users.number LIMIT :limit`, { limit });
}

/** The others are told of their own account alone. */
export function notifiedOf(db: Db, account: string, limit: number): Recipient[] {
  return db.all<Recipient>(
    `${RECIPIENT} AND users.role != 'objs_admin' AND accounts.name = :account AND accounts.state = 'normal'
     ORDER BY users.number LIMIT :limit`,
    { account, limit },
  );
}
