import type { ArrayRole } from '@granary/contract/array';
import type { Db, Tx } from '@granary/kernel';

export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly email: string | null;
  readonly role: ArrayRole;
  readonly password_hash: string;
  readonly access_key: string;
  readonly access_key_mark: string;
  readonly created_at: number;
}

export type NewUser = Omit<UserRow, 'id'>;

export function insertUser(tx: Tx, user: NewUser): UserRow {
  tx.run(
    `INSERT INTO users (username, email, role, password_hash, access_key, access_key_mark, created_at)
     VALUES (:username, :email, :role, :password_hash, :access_key, :access_key_mark, :created_at)`,
    { ...user },
  );
  return findUser(tx, user.username) as UserRow;
}

export function findUser(db: Db, username: string): UserRow | undefined {
  return db.get<UserRow>('SELECT * FROM users WHERE username = :username', { username });
}

export function findUserByKey(db: Db, mark: string): UserRow | undefined {
  return db.get<UserRow>('SELECT * FROM users WHERE access_key_mark = :mark', { mark });
}

export function countUsers(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM users')?.count ?? 0;
}

export function listUsers(db: Db, start: number, limit: number): UserRow[] {
  return db.all<UserRow>('SELECT * FROM users ORDER BY id LIMIT :limit OFFSET :start', {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

export function replaceAccessKey(tx: Tx, id: number, sealed: string, mark: string): void {
  tx.run('UPDATE users SET access_key = :sealed, access_key_mark = :mark WHERE id = :id', { id, sealed, mark });
}

export function updateUser(tx: Tx, id: number, user: Pick<UserRow, 'email' | 'role' | 'password_hash'>): void {
  const { email, role, password_hash } = user;
  tx.run('UPDATE users SET email = :email, role = :role, password_hash = :password_hash WHERE id = :id', {
    id,
    email,
    role,
    password_hash,
  });
}

export function deleteUser(tx: Tx, id: number): void {
  tx.run('DELETE FROM users WHERE id = :id', { id });
}

export function countOtherAdmins(db: Db, id: number): number {
  const sql = `SELECT count(*) AS count FROM users WHERE role = 'admin' AND id != :id`;
  return db.get<{ count: number }>(sql, { id })?.count ?? 0;
}
