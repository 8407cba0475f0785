import { generated, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { Letter, Recipient, ToldEvent } from './letter.ts';

const letters = new Table<Letter, 'id'>('letters', {
  id: generated('id'),
  recipient: plain('recipient'),
  sealed: plain('sealed'),
  attempts: plain('attempts'),
  sendAfter: plain('send_after'),
  createdAt: plain('created_at'),
});

export function insertLetter(tx: Tx, letter: Pick<Letter, 'recipient' | 'sealed'>, now: number): void {
  letters.insert(tx, { ...letter, attempts: 0, sendAfter: now, createdAt: now });
}

export function countLetters(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM letters')?.n ?? 0;
}

export function nextLetter(db: Db, now: number): Letter | undefined {
  const due = 'FROM letters WHERE send_after <= :now ORDER BY send_after, id LIMIT 1';
  return letters.get(db, `SELECT ${letters.fields()} ${due}`, { now });
}

export function putOffLetter(tx: Tx, id: number, until: number): void {
  tx.run('UPDATE letters SET attempts = attempts + 1, send_after = :until WHERE id = :id', { id, until });
}

export function deleteLetter(tx: Tx, id: number): void {
  tx.run('DELETE FROM letters WHERE id = :id', { id });
}

const MAILED_EVENT = 'mailed_event';

export function lastEventId(db: Db): number {
  return db.get<{ id: number | null }>('SELECT max(id) AS id FROM events')?.id ?? 0;
}

export function eventsAfter(db: Db, id: number, limit: number): ToldEvent[] {
  const sql = `SELECT id, created_at AS createdAt, severity, title, subject FROM events WHERE id > :id ORDER BY id LIMIT :limit`;
  return db.all<ToldEvent>(sql, { id, limit });
}

/** The last event that notices were sent for; undefined before the first time. */
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

const RECIPIENT = `SELECT users.email, accounts.name AS account, users.role = 'objs_admin' AS isAdmin,
    users.notification_severity AS severity
  FROM users JOIN accounts ON accounts.id = users.account_id
  WHERE users.notify_on_events = 1 AND users.locked = 0 AND users.email IS NOT NULL`;

/** As SQLite gives it. */
type FoundRecipient = Omit<Recipient, 'isAdmin'> & { readonly isAdmin: number };

function toRecipient(found: FoundRecipient): Recipient {
  return { ...found, isAdmin: found.isAdmin === 1 };
}

/** Administrators of the array: they are notified of all events. */
export function notifiedAdmins(db: Db, limit: number): Recipient[] {
  const sql = `${RECIPIENT} AND users.role = 'objs_admin' ORDER BY users.number LIMIT :limit`;
  return db.all<FoundRecipient>(sql, { limit }).map(toRecipient);
}

/** Others are notified of events of their own account. */
export function notifiedOf(db: Db, account: string, limit: number): Recipient[] {
  const sql = `${RECIPIENT} AND users.role != 'objs_admin' AND accounts.name = :account AND accounts.state = 'normal'
     ORDER BY users.number LIMIT :limit`;
  return db.all<FoundRecipient>(sql, { account, limit }).map(toRecipient);
}
