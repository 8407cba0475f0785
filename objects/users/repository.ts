import type { ObjectsRole } from '@granary/contract/objects';
import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export interface UserRow {
  readonly number: number;
  readonly id: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly account_enabled: number;
  readonly account_is_system: number;
  readonly username: string;
  readonly email: string | null;
  readonly role: ObjectsRole;
  readonly is_primary: number;
  readonly locked: number;
  readonly notify_on_events: number;
  readonly notification_severity: number;
  readonly password_hash: string | null;
  readonly password_set_at: number | null;
  readonly init_password_changed: number;
  readonly access_key: string;
  readonly token: string;
  readonly token_expires_at: number;
  readonly s3_access_key: string;
  readonly s3_secret_key: string;
  readonly created_at: number;
  readonly modified_at: number;
}

/** Secrets as they are kept: sealed, with the mark they are found by. */
export interface SealedToken {
  readonly token: string;
  readonly token_mark: string;
  readonly token_expires_at: number;
}

export interface SealedAccessKey {
  readonly access_key: string;
  readonly access_key_mark: string;
}

export interface SealedKeys extends SealedToken, SealedAccessKey {
  readonly s3_access_key: string;
  readonly s3_secret_key: string;
}

export interface NewUser extends SealedKeys {
  readonly id: string;
  readonly account_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: ObjectsRole;
  readonly notify_on_events: number;
  readonly password_hash: string | null;
  readonly password_set_at: number | null;
  readonly init_password_changed: number;
  readonly now: number;
}

const SELECT = `SELECT users.*, accounts.name AS account_name, accounts.enabled AS account_enabled,
    accounts.is_system AS account_is_system
  FROM users JOIN accounts ON accounts.id = users.account_id`;
const OF_ACCOUNT = `(:account IS NULL OR users.account_id = :account)`;

/** Of an account, or of all when it is null. */
export function countUsers(db: Db, account: string | null): number {
  if (account === null) return db.get<{ n: number }>('SELECT count(*) AS n FROM users')?.n ?? 0;
  return db.get<{ n: number }>('SELECT count(*) AS n FROM users WHERE account_id = :account', { account })?.n ?? 0;
}

export function listUsers(db: Db, account: string | null, page: Page): UserRow[] {
  const where = account === null ? '' : 'WHERE account_id = :account';
  // Which first, so that nothing is joined for rows before the page.
  const numbers = `SELECT number FROM users ${where} ORDER BY number LIMIT :limit OFFSET :start`;
  return db.all<UserRow>(`${SELECT} WHERE users.number IN (${numbers}) ORDER BY users.number`, {
    ...(account !== null && { account }),
    ...sqlPage(page),
  });
}

/** By number or id; only of the account, where one is given. */
export function findUserById(db: Db, id: string, account: string | null): UserRow | undefined {
  return /^\d{1,15}$/.test(id)
    ? db.get<UserRow>(`${SELECT} WHERE users.number = :number AND ${OF_ACCOUNT}`, { number: Number(id), account })
    : db.get<UserRow>(`${SELECT} WHERE users.id = :id AND ${OF_ACCOUNT}`, { id, account });
}

export function findUserByNumber(db: Db, number: number): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.number = :number`, { number });
}

export function findUserNamed(db: Db, account: string, username: string): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.account_id = :account AND users.username = :username`, {
    account,
    username,
  });
}

/** By the mail address, where only one user of the account has it. */
export function findUserByMail(db: Db, account: string, email: string): UserRow | undefined {
  const sql = `${SELECT} WHERE users.account_id = :account AND users.email = :email LIMIT 2`;
  const found = db.all<UserRow>(sql, { account, email });
  return found.length === 1 ? found[0] : undefined;
}

export function findUserByKey(db: Db, mark: string): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.access_key_mark = :mark`, { mark });
}

export function findUserByToken(db: Db, mark: string): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.token_mark = :mark`, { mark });
}

export function findUserByS3Key(db: Db, accessKey: string): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.s3_access_key = :accessKey`, { accessKey });
}

/** Administrators of the account, this one left out, who can sign in. */
export function countOtherAdmins(db: Db, { number, account_id: account }: UserRow): number {
  const sql = `SELECT count(*) AS n FROM users
    WHERE account_id = :account AND role != 'member' AND locked = 0 AND number != :number`;
  return db.get<{ n: number }>(sql, { account, number })?.n ?? 0;
}

export function insertUser(tx: Tx, user: NewUser): number {
  return tx.run(
    `INSERT INTO users (id, account_id, username, email, role, is_primary, notify_on_events, password_hash,
       password_set_at, init_password_changed, access_key, access_key_mark,
       token, token_mark, token_expires_at, s3_access_key, s3_secret_key, created_at, modified_at)
     VALUES (:id, :account_id, :username, :email, :role,
       NOT EXISTS (SELECT 1 FROM users WHERE account_id = :account_id), :notify_on_events, :password_hash,
       :password_set_at, :init_password_changed, :access_key, :access_key_mark,
       :token, :token_mark, :token_expires_at, :s3_access_key, :s3_secret_key, :now, :now)`,
    { ...user },
  ).insertedId;
}

export function deleteUser(tx: Tx, number: number): void {
  tx.run('DELETE FROM users WHERE number = :number', { number });
}

export function deleteUsersOf(tx: Tx, account: string): number {
  return tx.run('DELETE FROM users WHERE account_id = :account', { account }).changes;
}

/** The administrator who was there longest, or else the user who was, stands for an account that lost its primary user. */
export function choosePrimary(tx: Tx, account: string, now: number): void {
  tx.run(
    `UPDATE users SET is_primary = 1, modified_at = :now WHERE number = (
       SELECT number FROM users WHERE account_id = :account ORDER BY role = 'member', locked, number LIMIT 1)`,
    { account, now },
  );
}

export function setLocked(tx: Tx, number: number, locked: boolean, now: number): void {
  tx.run('UPDATE users SET locked = :locked, modified_at = :now WHERE number = :number', {
    number,
    locked: locked ? 1 : 0,
    now,
  });
}

export function setRole(tx: Tx, number: number, role: ObjectsRole, now: number): void {
  tx.run('UPDATE users SET role = :role, modified_at = :now WHERE number = :number', { number, role, now });
}

export function replaceToken(tx: Tx, number: number, token: SealedToken): void {
  tx.run(
    `UPDATE users SET token = :token, token_mark = :token_mark, token_expires_at = :token_expires_at
     WHERE number = :number`,
    { number, ...token },
  );
}

export function replaceAccessKey(tx: Tx, number: number, key: SealedAccessKey): void {
  tx.run('UPDATE users SET access_key = :access_key, access_key_mark = :access_key_mark WHERE number = :number', {
    number,
    ...key,
  });
}

export function replaceS3Secret(tx: Tx, number: number, sealed: string, now: number): void {
  tx.run('UPDATE users SET s3_secret_key = :sealed, modified_at = :now WHERE number = :number', {
    number,
    sealed,
    now,
  });
}

/** Marks of the codes that still set a password. */
export function codesOf(db: Db, number: number, now: number): string[] {
  const sql = 'SELECT mark FROM password_codes WHERE user = :number AND expires_at > :now';
  return db.all<{ mark: string }>(sql, { number, now }).map(({ mark }) => mark);
}

export function addCode(tx: Tx, number: number, code: { mark: string; expiresAt: number }, now: number): void {
  tx.run('DELETE FROM password_codes WHERE user = :number AND expires_at <= :now', { number, now });
  tx.run('INSERT INTO password_codes VALUES (:number, :mark, :expiresAt)', { number, ...code });
}

/** A code is good for one password: all of them go with it. */
export function setPassword(tx: Tx, number: number, hash: string, now: number): void {
  tx.run(
    `UPDATE users SET password_hash = :hash, password_set_at = :now, init_password_changed = 1, modified_at = :now
     WHERE number = :number`,
    { number, hash, now },
  );
  tx.run('DELETE FROM password_codes WHERE user = :number', { number });
}

/** Newest first. */
export function pastPasswords(db: Db, user: number, limit: number): string[] {
  const sql = 'SELECT password_hash FROM past_passwords WHERE user = :user ORDER BY id DESC LIMIT :limit';
  return db.all<{ password_hash: string }>(sql, { user, limit }).map(({ password_hash }) => password_hash);
}

export function addPastPassword(tx: Tx, user: number, hash: string, keep: number): void {
  tx.run('INSERT INTO past_passwords (user, password_hash) VALUES (:user, :hash)', { user, hash });
  tx.run(
    `DELETE FROM past_passwords WHERE user = :user AND id NOT IN (
       SELECT id FROM past_passwords WHERE user = :user ORDER BY id DESC LIMIT :keep)`,
    { user, keep },
  );
}
