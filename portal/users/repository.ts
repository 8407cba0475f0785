import { randomBytes } from 'node:crypto';
import { flag, generated, plain, sqlPage, Table, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { User } from './user.ts';

const users = new Table<User, 'id'>('users', {
  id: generated('id'),
  uuid: plain('uuid'),
  username: plain('username'),
  email: plain('email'),
  role: plain('role'),
  autoApproved: flag('auto_approved'),
  passwordHash: plain('password_hash'),
  tokenPrint: plain('token_print'),
  tokenSealed: plain('token_sealed'),
  createdAt: plain('created_at'),
  updatedAt: plain('updated_at'),
  disabledAt: plain('disabled_at'),
});

const SELECT = `SELECT ${users.fields()} FROM users`;
/** A removed user is kept for the bills and is found nowhere else. */
const PRESENT = 'removed_at IS NULL';

export function listUsers(db: Db, page: Page): User[] {
  return users.all(db, `${SELECT} WHERE ${PRESENT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countUsers(db: Db): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM users WHERE ${PRESENT}`)?.n ?? 0;
}

export function findUser(db: Db, id: number): User | undefined {
  return users.get(db, `${SELECT} WHERE id = :id AND ${PRESENT}`, { id });
}

export function findUserByName(db: Db, username: string): User | undefined {
  return users.get(db, `${SELECT} WHERE username = :username AND ${PRESENT}`, { username });
}

export function findUserByUuid(db: Db, uuid: string): User | undefined {
  return users.get(db, `${SELECT} WHERE uuid = :uuid AND ${PRESENT}`, { uuid });
}

export function findUserByToken(db: Db, print: string): User | undefined {
  return users.get(db, `${SELECT} WHERE token_print = :print AND ${PRESENT}`, { print });
}

/** Something the vault has sealed, to try a key on. */
export function anySealedToken(db: Db): string | undefined {
  return db.get<{ token_sealed: string }>(`SELECT token_sealed FROM users WHERE ${PRESENT} LIMIT 1`)?.token_sealed;
}

/** Administrators besides this one who can sign in. */
export function countOtherAdmins(db: Db, id: number): number {
  const sql = `SELECT count(*) AS n FROM users WHERE role = 'admin' AND id <> :id AND disabled_at IS NULL AND ${PRESENT}`;
  return db.get<{ n: number }>(sql, { id })?.n ?? 0;
}

/** What exists and would be left without an owner. Arrays that can be undeleted count; purged ones do not: bills keep the owner's name. */
export function countBelongings(db: Db, id: number): number {
  return (
    db.get<{ n: number }>(
      `SELECT (SELECT count(*) FROM arrays WHERE owner_id = :id AND purged_at IS NULL)
            + (SELECT count(*) FROM object_accounts WHERE user_id = :id)
            + (SELECT count(*) FROM virtual_networks JOIN tenants ON tenants.id = tenant_id WHERE user_id = :id) AS n`,
      { id },
    )?.n ?? 0
  );
}

type NewUser = Omit<User, 'id' | 'uuid' | 'createdAt' | 'updatedAt' | 'disabledAt'>;

export function insertUser(tx: Tx, user: NewUser, now: number): number {
  const uuid = randomBytes(16).toString('hex');
  return users.insert(tx, { ...user, uuid, createdAt: now, updatedAt: now, disabledAt: null });
}

type UserChanges = Changes<Pick<User, 'email' | 'role' | 'autoApproved' | 'passwordHash' | 'disabledAt'>>;

export function updateUser(tx: Tx, id: number, changes: UserChanges, now: number): void {
  users.update(tx, { id }, { ...changes, updatedAt: now });
}

export function updateToken(tx: Tx, id: number, tokenPrint: string, tokenSealed: string): void {
  users.update(tx, { id }, { tokenPrint, tokenSealed });
}

/** Keeps what bills name and nothing that could let somebody in. A username has no space, so the new one is free. */
export function removeUser(tx: Tx, id: number, now: number): void {
  tx.run(
    `UPDATE users SET former_name = username, username = 'removed ' || id, email = NULL, password_hash = '',
       token_print = 'removed ' || id, token_sealed = '', removed_at = :now, updated_at = :now WHERE id = :id`,
    { id, now },
  );
  tx.run(`DELETE FROM requests WHERE user_id = :id AND status = 'pending'`, { id });
  tx.run('DELETE FROM computes WHERE user_id = :id', { id });
  tx.run('DELETE FROM tenants WHERE user_id = :id', { id });
}
