import { plain, sqlPage, Table, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { NewUser, UserRecord } from './user.ts';

const users = new Table<NewUser>('users', {
  username: plain('username'),
  email: plain('email'),
  role: plain('role'),
  passwordHash: plain('password_hash'),
  sealedKey: plain('access_key'),
  keyMark: plain('access_key_mark'),
  createdAt: plain('created_at'),
});
/** SQLite numbers them. */
type Numbered = Pick<UserRecord, 'id'>;
const SELECT = `SELECT id, ${users.fields()} FROM users`;

export function insertUser(tx: Tx, user: NewUser): UserRecord {
  return { ...user, id: users.insert(tx, user) };
}

export function findUser(db: Db, username: string): UserRecord | undefined {
  return users.get<Numbered>(db, `${SELECT} WHERE username = :username`, { username });
}

export function findUserByKey(db: Db, mark: string): UserRecord | undefined {
  return users.get<Numbered>(db, `${SELECT} WHERE access_key_mark = :mark`, { mark });
}

export function countUsers(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM users')?.count ?? 0;
}

export function listUsers(db: Db, page: Page): UserRecord[] {
  return users.all<Numbered>(db, `${SELECT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
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
