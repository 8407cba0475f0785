import type { ObjectsRole } from '@granary/contract/objects';
import type { Db, Tx } from '@granary/kernel';

export interface UserRow {
  readonly number: number;
  readonly id: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly account_enabled: number;
  readonly username: string;
  readonly email: string | null;
  readonly role: ObjectsRole;
  readonly is_primary: number;
  readonly locked: number;
  readonly notify_on_events: number;
  readonly password_hash: string;
  readonly access_key: string;
  readonly token: string;
  readonly token_expires_at: number;
  readonly s3_access_key: string;
  readonly s3_secret_key: string;
}

export interface NewUser extends Omit<
  UserRow,
  'number' | 'account_name' | 'account_enabled' | 'locked' | 'notify_on_events' | 'is_primary'
> {
  readonly access_key_mark: string;
  readonly token_mark: string;
  readonly now: number;
}

const SELECT = `SELECT users.*, accounts.name AS account_name, accounts.enabled AS account_enabled
  FROM users JOIN accounts ON accounts.id = users.account_id`;

export function countUsers(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM users')?.count ?? 0;
}

export function insertSystemAccount(tx: Tx, account: { id: string; name: string; now: number }): void {
  tx.run('INSERT INTO accounts VALUES (:id, :name, 1, 1, :now, :now)', account);
}

export function insertUser(tx: Tx, user: NewUser): void {
  tx.run(
    `INSERT INTO users (id, account_id, username, email, role, is_primary, password_hash, access_key, access_key_mark,
       token, token_mark, token_expires_at, s3_access_key, s3_secret_key, created_at, modified_at)
     VALUES (:id, :account_id, :username, :email, :role,
       NOT EXISTS (SELECT 1 FROM users WHERE account_id = :account_id),
       :password_hash, :access_key, :access_key_mark, :token, :token_mark, :token_expires_at,
       :s3_access_key, :s3_secret_key, :now, :now)`,
    { ...user },
  );
}

/** By the name or the id of the account, and by the username or the mail address of the user. */
export function findUser(db: Db, account: string, user: string): UserRow | undefined {
  return db.get<UserRow>(
    `${SELECT} WHERE (accounts.name = :account OR accounts.id = :account)
       AND (users.username = :user OR users.email = :user)
     ORDER BY users.username = :user DESC LIMIT 1`,
    { account, user },
  );
}

export function findUserByKey(db: Db, mark: string): UserRow | undefined {
  return db.get<UserRow>(`${SELECT} WHERE users.access_key_mark = :mark`, { mark });
}

export function replaceToken(
  tx: Tx,
  number: number,
  token: { readonly sealed: string; readonly mark: string; readonly expiresAt: number },
): void {
  tx.run('UPDATE users SET token = :sealed, token_mark = :mark, token_expires_at = :expiresAt WHERE number = :number', {
    number,
    ...token,
  });
}
