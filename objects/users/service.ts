import { randomBytes } from 'node:crypto';
import type { ObjectsRole } from '@granary/contract/objects';
import {
  fail,
  fingerprint,
  hashPassword,
  newSecret,
  SignInAttempts,
  verifyPassword,
  type Clock,
  type EventLog,
  type Store,
  type Vault,
} from '@granary/kernel';
import {
  countUsers,
  findUser,
  findUserByKey,
  insertSystemAccount,
  insertUser,
  replaceToken,
  type NewUser,
  type UserRow,
} from './repository.ts';

/** The account that administers the array. */
export const SYSTEM_ACCOUNT = 'objs_admin';

export interface User {
  readonly number: number;
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly username: string;
  readonly email: string | null;
  readonly role: ObjectsRole;
  readonly isPrimary: boolean;
  readonly locked: boolean;
  readonly notifyOnEvents: boolean;
}

export interface UserSecrets {
  readonly accessKey: string;
  readonly token: string;
  readonly tokenExpiresAt: number;
  readonly s3AccessKey: string;
  readonly s3SecretKey: string;
}

interface SignIn {
  readonly account: string;
  readonly user: string;
  readonly password: string;
  readonly ip: string;
}

interface UsersOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly tokenMinutes: () => number;
}

export class Users {
  readonly #options: UsersOptions;
  readonly #attempts: SignInAttempts;

  constructor(options: UsersOptions) {
    this.#options = options;
    this.#attempts = new SignInAttempts({ clock: options.clock });
  }

  /** At the first start: the system account with the owner, who signs in with the passcode the portal shows. */
  async createOwner(username: string, passcode: string): Promise<void> {
    const { store, clock } = this.#options;
    if (store.read(countUsers) > 0) return;
    const account = { id: newId(), name: SYSTEM_ACCOUNT, now: clock.now() };
    const owner = await this.#newUser(account.id, username, passcode);
    await store.write((tx) => {
      insertSystemAccount(tx, account);
      insertUser(tx, owner);
    });
  }

  /** The user with everything that opens a door; an expired token is replaced. */
  async signIn(attempt: SignIn): Promise<User & UserSecrets> {
    const { store, events } = this.#options;
    const row = await this.#verified(attempt);
    const token = this.#freshToken(row);
    await store.write((tx) => {
      if (token) replaceToken(tx, row.number, token);
      const title = `User ${row.username} of ${row.account_name} signed in from ${attempt.ip}.`;
      events.record(tx, { title, subject: `account:${row.account_name}`, actor: row.username });
    });
    return this.#withSecrets(token ? { ...row, token: token.sealed, token_expires_at: token.expiresAt } : row);
  }

  /** Who a username and password are, where a call carries them instead of a key. */
  async byPassword(attempt: SignIn): Promise<User> {
    return toUser(await this.#verified(attempt));
  }

  byAccessKey(key: string): User | undefined {
    const row = this.#options.store.read((db) => findUserByKey(db, fingerprint(key)));
    return row && row.locked === 0 && row.account_enabled === 1 ? toUser(row) : undefined;
  }

  refuseKey(ip: string): Promise<never> {
    return this.#attempts.refuse({ username: '(access key)', ip });
  }

  async #verified({ account, user, password, ip }: SignIn): Promise<UserRow> {
    const row = await this.#attempts.guard({ username: `${account}/${user}`, ip }, async () => {
      const found = this.#options.store.read((db) => findUser(db, account, user));
      const usable = (await verifyPassword(password, found?.password_hash)) && found?.locked === 0;
      return usable ? found : undefined;
    });
    // Told only to whoever knows the password: to others the account may as well not exist.
    if (row.account_enabled === 0) throw fail('account_disabled', { id: row.account_name });
    return row;
  }

  async #newUser(accountId: string, username: string, password: string): Promise<NewUser> {
    const { vault, clock } = this.#options;
    const accessKey = newSecret();
    const token = this.#newToken();
    return {
      id: newId(),
      account_id: accountId,
      username,
      email: null,
      role: 'objs_admin',
      password_hash: await hashPassword(password),
      access_key: vault.seal(accessKey),
      access_key_mark: fingerprint(accessKey),
      token: token.sealed,
      token_mark: token.mark,
      token_expires_at: token.expiresAt,
      s3_access_key: randomBytes(10).toString('hex').toUpperCase(),
      s3_secret_key: vault.seal(newSecret(30)),
      now: clock.now(),
    };
  }

  #freshToken({ token_expires_at: expiresAt }: UserRow) {
    return expiresAt > this.#options.clock.now() ? undefined : this.#newToken();
  }

  #newToken(): { sealed: string; mark: string; expiresAt: number } {
    const { vault, clock, tokenMinutes } = this.#options;
    const token = newSecret();
    return { sealed: vault.seal(token), mark: fingerprint(token), expiresAt: clock.now() + tokenMinutes() * 60_000 };
  }

  #withSecrets(row: UserRow): User & UserSecrets {
    const { vault } = this.#options;
    return {
      ...toUser(row),
      accessKey: vault.unseal(row.access_key),
      token: vault.unseal(row.token),
      tokenExpiresAt: row.token_expires_at,
      s3AccessKey: row.s3_access_key,
      s3SecretKey: vault.unseal(row.s3_secret_key),
    };
  }
}

function toUser(row: UserRow): User {
  return {
    number: row.number,
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    username: row.username,
    email: row.email,
    role: row.role,
    isPrimary: row.is_primary === 1,
    locked: row.locked === 1,
    notifyOnEvents: row.notify_on_events === 1,
  };
}

/** 32 hex digits: the form of account and user ids. */
function newId(): string {
  return randomBytes(16).toString('hex');
}
