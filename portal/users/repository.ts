import { randomBytes } from 'node:crypto';
import { flag, generated, plain, sqlPage, Table, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { UserId } from '../ids.ts';
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

/** For queries of what users own, by the column that has the owner's id. A removed user keeps the former name there. */
export const OWNER = {
  fields: 'coalesce(users.former_name, users.username) AS owner, users.uuid AS ownerUuid',
  join: (column: string) => `JOIN users ON users.id = ${column}`,
};

/** For queries of what belongs to users who are present. */
export function usernameOf(column: string): string {
  return `(SELECT username FROM users WHERE users.id = ${column})`;
}

export function listUsers(db: Db, page: Page): User[] {
  return users.all(db, `${SELECT} WHERE ${PRESENT} ORDER BY id LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countUsers(db: Db): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM users WHERE ${PRESENT}`)?.n ?? 0;
}

export function findUser(db: Db, id: UserId): User | undefined {
  return users.get(db, `${SELECT} WHERE id = :id AND ${PRESENT}`, { id });
}

/** By the id of an actor, such as `user:12`. */
export function findUserByActor(db: Db, actor: string): User | undefined {
  return findUser(db, Number(actor.slice(actor.indexOf(':') + 1)));
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
export function countOtherAdmins(db: Db, id: UserId): number {
  const sql = `SELECT count(*) AS n FROM users WHERE role = 'admin' AND id <> :id AND disabled_at IS NULL AND ${PRESENT}`;
  return db.get<{ n: number }>(sql, { id })?.n ?? 0;
}

type NewUser = Omit<User, 'id' | 'uuid' | 'createdAt' | 'updatedAt' | 'disabledAt'>;

export function insertUser(tx: Tx, user: NewUser, now: number): UserId {
  const uuid = randomBytes(16).toString('hex');
  return users.insert(tx, { ...user, uuid, createdAt: now, updatedAt: now, disabledAt: null });
}

type UserChanges = Changes<Pick<User, 'email' | 'role' | 'autoApproved' | 'passwordHash' | 'disabledAt'>>;

export function updateUser(tx: Tx, id: UserId, changes: UserChanges, now: number): void {
  users.update(tx, { id }, { ...changes, updatedAt: now });
}

export function updateToken(tx: Tx, id: UserId, tokenPrint: string, tokenSealed: string): void {
  users.update(tx, { id }, { tokenPrint, tokenSealed });
}

/** Keeps what bills name and no credentials. A username has no space, so the new one is free. */
export function removeUser(tx: Tx, id: UserId, now: number): void {
  tx.run(
    `UPDATE users SET former_name = username, username = 'removed ' || id, email = NULL, password_hash = '',
       token_print = 'removed ' || id, token_sealed = '', removed_at = :now, updated_at = :now WHERE id = :id`,
    { id, now },
  );
}

/** Also one that was removed: bills name it. */
export function userExists(db: Db, id: UserId): boolean {
  return db.get('SELECT 1 FROM users WHERE id = :id', { id }) !== undefined;
}

export function listNames(db: Db): { readonly id: UserId; readonly username: string }[] {
  return db.all(`SELECT id, username FROM users WHERE ${PRESENT} ORDER BY id`);
}
