import type { ObjectsRole } from '@granary/contract/objects';
import {
  bestFirst,
  flag,
  generated,
  likeAny,
  likeParams,
  plain,
  sqlPage,
  Table,
  type Db,
  type Page,
  type SqlParams,
  type Tx,
} from '@granary/kernel';
import type { SealedAccessKey, SealedToken, SealedUser } from './user.ts';

/** What is shown of a user's account. */
type OfAccount = Pick<SealedUser, 'accountName' | 'accountEnabled' | 'isSystem'>;
type StoredUser = Omit<SealedUser, keyof OfAccount>;

const users = new Table<StoredUser, 'number'>('users', {
  number: generated('number'),
  id: plain('id'),
  accountId: plain('account_id'),
  username: plain('username'),
  email: plain('email'),
  role: plain('role'),
  isPrimary: flag('is_primary'),
  locked: flag('locked'),
  notifyOnEvents: flag('notify_on_events'),
  notificationSeverity: plain('notification_severity'),
  passwordHash: plain('password_hash'),
  passwordSetAt: plain('password_set_at'),
  initPasswordChanged: flag('init_password_changed'),
  accessKeySealed: plain('access_key'),
  accessKeyMark: plain('access_key_mark'),
  tokenSealed: plain('token'),
  tokenMark: plain('token_mark'),
  tokenExpiresAt: plain('token_expires_at'),
  s3AccessKey: plain('s3_access_key'),
  s3SecretKeySealed: plain('s3_secret_key'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

interface JoinedAccount {
  readonly accountName: string;
  readonly accountEnabled: number;
  readonly isSystem: number;
}

const NOTIFICATION_SEVERITY = 4;

const SELECT = `SELECT ${users.fields()}, accounts.name AS accountName, accounts.enabled AS accountEnabled,
    accounts.is_system AS isSystem
  FROM users JOIN accounts ON accounts.id = users.account_id`;
const OF_ACCOUNT = `(:account IS NULL OR users.account_id = :account)`;

function allUsers(db: Db, sql: string, params: SqlParams): SealedUser[] {
  return users.all<JoinedAccount>(db, sql, params).map(inAccount);
}

function getUser(db: Db, sql: string, params: SqlParams): SealedUser | undefined {
  const found = users.get<JoinedAccount>(db, sql, params);
  return found && inAccount(found);
}

function inAccount(found: StoredUser & JoinedAccount): SealedUser {
  return { ...found, accountEnabled: found.accountEnabled === 1, isSystem: found.isSystem === 1 };
}

/** Of an account, or of all when it is null. */
export function countUsers(db: Db, account: string | null): number {
  if (account === null) return db.get<{ n: number }>('SELECT count(*) AS n FROM users')?.n ?? 0;
  return db.get<{ n: number }>('SELECT count(*) AS n FROM users WHERE account_id = :account', { account })?.n ?? 0;
}

export function listUsers(db: Db, account: string | null, page: Page): SealedUser[] {
  const where = account === null ? '' : 'WHERE account_id = :account';
  // Which first, so that nothing is joined for rows before the page.
  const numbers = `SELECT number FROM users ${where} ORDER BY number LIMIT :limit OFFSET :start`;
  return allUsers(db, `${SELECT} WHERE users.number IN (${numbers}) ORDER BY users.number`, {
    ...(account !== null && { account }),
    ...sqlPage(page),
  });
}

/** Those with a text in their name or address, best first; only of the account, where one is given. */
export function searchUsers(db: Db, account: string | null, text: string, limit: number): SealedUser[] {
  const sql = `${SELECT} WHERE ${OF_ACCOUNT} AND ${likeAny('users.username', 'users.email')}
    ORDER BY ${bestFirst('users.username')}`;
  return allUsers(db, sql, { account, ...likeParams(text, limit) });
}

/** By number or id; only of the account, where one is given. */
export function findUserById(db: Db, id: string, account: string | null): SealedUser | undefined {
  return /^\d{1,15}$/.test(id)
    ? getUser(db, `${SELECT} WHERE users.number = :number AND ${OF_ACCOUNT}`, { number: Number(id), account })
    : getUser(db, `${SELECT} WHERE users.id = :id AND ${OF_ACCOUNT}`, { id, account });
}

export function findUserByNumber(db: Db, number: number): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.number = :number`, { number });
}

/** By the id of an actor, such as `user:12`. */
export function findUserByActor(db: Db, actor: string): SealedUser | undefined {
  return findUserByNumber(db, Number(actor.slice(actor.indexOf(':') + 1)));
}

export function findUserNamed(db: Db, account: string, username: string): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.account_id = :account AND users.username = :username`, {
    account,
    username,
  });
}

/** By the mail address, where only one user of the account has it. */
export function findUserByMail(db: Db, account: string, email: string): SealedUser | undefined {
  const sql = `${SELECT} WHERE users.account_id = :account AND users.email = :email LIMIT 2`;
  const found = allUsers(db, sql, { account, email });
  return found.length === 1 ? found[0] : undefined;
}

export const ACCOUNTS_BY_MAIL = `SELECT DISTINCT users.account_id AS account
  FROM users JOIN accounts ON accounts.id = users.account_id
  WHERE users.email = :email AND accounts.state = 'normal' ORDER BY 1 LIMIT 2`;

/** Of accounts that are there: two at most, which is one too many for a name. */
export function listAccountsByMail(db: Db, email: string): string[] {
  return db.all<{ account: string }>(ACCOUNTS_BY_MAIL, { email }).map(({ account }) => account);
}

/** Who stands for an account. */
export function findPrimaryUser(db: Db, account: string): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.account_id = :account AND users.is_primary = 1`, { account });
}

export function findUserByKey(db: Db, mark: string): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.access_key_mark = :mark`, { mark });
}

export function findUserByToken(db: Db, mark: string): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.token_mark = :mark`, { mark });
}

export function findUserByS3Key(db: Db, accessKey: string): SealedUser | undefined {
  return getUser(db, `${SELECT} WHERE users.s3_access_key = :accessKey`, { accessKey });
}

/** Administrators of the account, this one left out, who can sign in. */
export function countOtherAdmins(db: Db, { number, accountId: account }: SealedUser): number {
  const sql = `SELECT count(*) AS n FROM users
    WHERE account_id = :account AND role != 'member' AND locked = 0 AND number != :number`;
  return db.get<{ n: number }>(sql, { account, number })?.n ?? 0;
}

export type NewUser = Omit<
  StoredUser,
  'number' | 'isPrimary' | 'locked' | 'notificationSeverity' | 'createdAt' | 'modifiedAt'
>;

/** The first of an account is its primary user. */
export function insertUser(tx: Tx, user: NewUser, now: number): number {
  return users.insert(tx, {
    ...user,
    isPrimary: countUsers(tx, user.accountId) === 0,
    locked: false,
    notificationSeverity: NOTIFICATION_SEVERITY,
    createdAt: now,
    modifiedAt: now,
  });
}

export function deleteUser(tx: Tx, number: number): void {
  tx.run('DELETE FROM users WHERE number = :number', { number });
}

export function userNumbersOf(db: Db, account: string): number[] {
  return db
    .all<{ number: number }>('SELECT number FROM users WHERE account_id = :account', { account })
    .map(({ number }) => number);
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
  users.update(tx, { number }, { locked, modifiedAt: now });
}

export function setRole(tx: Tx, number: number, role: ObjectsRole, now: number): void {
  users.update(tx, { number }, { role, modifiedAt: now });
}

export function replaceToken(tx: Tx, number: number, token: SealedToken): void {
  users.update(tx, { number }, token);
}

export function replaceAccessKey(tx: Tx, number: number, key: SealedAccessKey): void {
  users.update(tx, { number }, key);
}

export function replaceS3Secret(tx: Tx, number: number, s3SecretKeySealed: string, now: number): void {
  users.update(tx, { number }, { s3SecretKeySealed, modifiedAt: now });
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
  const changes = { passwordHash: hash, passwordSetAt: now, initPasswordChanged: true, modifiedAt: now };
  users.update(tx, { number }, changes);
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
