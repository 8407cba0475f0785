import { generated, plain, sqlPage, Table, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { NewUser, UserRecord } from './user.ts';

const users = new Table<UserRecord, 'id'>('users', {
  id: generated('id'),
  username: plain('username'),
  email: plain('email'),
  role: plain('role'),
  passwordHash: plain('password_hash'),
  sealedKey: plain('access_key'),
  keyMark: plain('access_key_mark'),
  createdAt: plain('created_at'),
});
const SELECT = `SELECT ${users.fields()} FROM users`;

export function insertUser(tx: Tx, user: NewUser): UserRecord {
  return { ...user, id: users.insert(tx, user) };
}

export function findUserById(db: Db, id: number): UserRecord | undefined {
  return users.get(db, `${SELECT} WHERE id = :id`, { id });
}

export function findUser(db: Db, username: string): UserRecord | undefined {
  return users.get(db, `${SELECT} WHERE username = :username`, { username });
}

/** By the id of an actor, such as `user:12`. */
export function findUserByActor(db: Db, actor: string): UserRecord | undefined {
  return users.get(db, `${SELECT} WHERE id = :id`, { id: Number(actor.slice(actor.indexOf(':') + 1)) });
}

/** Null for an actor that is not a user of the array, such as the portal: then administrators own what it creates. */
export function findUserId(db: Db, username: string): number | null {
  return db.get<{ id: number }>('SELECT id FROM users WHERE username = :username', { username })?.id ?? null;
}

export function findUserByKey(db: Db, mark: string): UserRecord | undefined {
  return users.get(db, `${SELECT} WHERE access_key_mark = :mark`, { mark });
}

export function countUsers(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM users')?.count ?? 0;
}

export function listUsers(db: Db, page: Page): UserRecord[] {
  return users.all(db, `${SELECT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

/** By name: it is unique and never changes. */
export function updateUser(tx: Tx, username: string, change: Changes<Omit<NewUser, 'username' | 'createdAt'>>): void {
  users.update(tx, { username }, change);
}

export function deleteUser(tx: Tx, id: number): void {
  tx.run('DELETE FROM users WHERE id = :id', { id });
}

export function countOtherAdmins(db: Db, id: number): number {
  const sql = `SELECT count(*) AS count FROM users WHERE role = 'admin' AND id != :id`;
  return db.get<{ count: number }>(sql, { id })?.count ?? 0;
}
