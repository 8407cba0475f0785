import { timingSafeEqual } from 'node:crypto';
import {
  fail,
  fingerprint,
  runFreeing,
  SignInAttempts,
  subjectLine,
  verifyPassword,
  type Db,
  type Sessions,
  type Tx,
} from '@granary/kernel';
import { findAccount, findAccountNamed } from '../accounts/repository.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import { Quota } from '../quota.ts';
import type { PeopleTools } from '../tools.ts';
import type { Keys } from './keys.ts';
import type { Passwords } from './passwords.ts';
import * as repository from './repository.ts';
import { toUser, withSecrets, type User, type UserSecrets, type SealedUser } from './user.ts';

export interface SignIn {
  readonly account: string;
  /** Username or mail address. */
  readonly user: string;
  readonly password: string;
  readonly ip: string;
}

interface CodeUse {
  readonly account: string;
  readonly username: string;
  readonly code: string;
  readonly newPassword: string;
  readonly ip: string;
}

interface SignInsParts {
  readonly keys: Keys;
  readonly passwords: Passwords;
  readonly mailbox: Mailbox;
  readonly sessions: Sessions;
}

const HOUR_MS = 3600 * 1000;
const RESETS_PER_ADDRESS = 100;
/** From one address, so that requests from another address do not use up the limit of a user. */
const RESETS_PER_USER = 5;
/** Codes of a user that are out at a time. When there are as many, one of them has to do. */
const CODES_MAX = 20;

/** What users do before they have a key: sign in, and set and lose their passwords. */
export class SignIns {
  readonly #tools: PeopleTools;
  readonly #parts: SignInsParts;
  readonly #attempts: SignInAttempts;
  readonly #resetsFrom: Quota;
  readonly #resetsOf: Quota;

  constructor(tools: PeopleTools, parts: SignInsParts) {
    this.#tools = tools;
    this.#parts = parts;
    const { clock } = tools;
    this.#attempts = new SignInAttempts({ clock });
    this.#resetsFrom = new Quota({ clock, max: RESETS_PER_ADDRESS, windowMs: HOUR_MS });
    this.#resetsOf = new Quota({ clock, max: RESETS_PER_USER, windowMs: HOUR_MS });
  }

  /** The user with everything that opens a door; an expired token is replaced. */
  async signIn(attempt: SignIn): Promise<User & UserSecrets> {
    const { store, clock, vault } = this.#tools;
    const user = this.#unexpired(await this.#verified(attempt));
    // Sign-in works on a full disk, or it could not be freed: the event is not waited for, the token may use the reserve.
    await store.writeUnlessFull((tx) => {
      this.#record(tx, user, `User ${user.username} of ${user.accountName} signed in from ${attempt.ip}.`);
    });
    if (user.tokenExpiresAt <= clock.now()) await runFreeing(true, () => this.#ensureToken(user.number));
    return withSecrets(
      store.read((db) => existing(db, user.number)),
      vault,
    );
  }

  async resetToken(attempt: SignIn): Promise<User & UserSecrets> {
    const { store, vault } = this.#tools;
    const { number } = this.#unexpired(await this.#verified(attempt));
    const user = await store.write((tx) => {
      const user = existing(tx, number);
      this.#renewToken(tx, user);
      this.#record(tx, user, `The token of ${user.username} of ${user.accountName} was replaced.`, 'notice');
      return existing(tx, number);
    });
    return withSecrets(user, vault);
  }

  /** Who a username and password are, where a call carries them instead of a key. */
  async byPassword(attempt: SignIn): Promise<User> {
    const { clock } = this.#tools;
    const user = await this.#known(attempt);
    const expiresAt = this.#parts.passwords.expiresAt(user) ?? Infinity;
    if (!user.accountEnabled || expiresAt <= clock.now()) throw fail('invalid_credentials');
    return toUser(user);
  }

  byAccessKey(key: string): User | undefined {
    return usable(this.#tools.store.read((db) => repository.findUserByKey(db, fingerprint(key))));
  }

  /** The user of a session. */
  byActor(actor: string): User | undefined {
    return usable(this.#tools.store.read((db) => repository.findUserByActor(db, actor)));
  }

  /** Who signs a browser in. */
  async verified(attempt: SignIn): Promise<SealedUser> {
    return this.#unexpired(await this.#verified(attempt));
  }

  /** Whom a sign-in names. */
  named(account: string, user: string): User | undefined {
    return this.#tools.store.read((db) => this.#find(db, account, user));
  }

  /** Whether sign-ins of the user are refused at present: disabled, of a disabled account, or after too many failures. */
  isRefused(user: User): boolean {
    return user.locked || !user.accountEnabled || this.#attempts.isRefused(attemptName(user.accountId, user.username));
  }

  refuseKey(ip: string): Promise<never> {
    return this.#attempts.refuse({ username: '(access key)', ip });
  }

  /** By users themselves, who have to know the one before; an expired one is good for this alone. */
  async changePassword(attempt: SignIn, next: string): Promise<User & UserSecrets> {
    const { store, vault } = this.#tools;
    const before = await this.#verified(attempt);
    const hash = await this.#parts.passwords.hashed(before, next);
    const user = await store.write((tx) => {
      const user = unchanged(tx, before);
      this.#setPassword(tx, user, hash);
      this.#record(tx, user, `User ${user.username} of ${user.accountName} changed their password.`, 'notice');
      return existing(tx, user.number);
    });
    return withSecrets(user, vault);
  }

  /**
   * Sets a password with a code, which is then used up. A user who needs one may have lost more than the password: the
   * access key is replaced too.
   */
  async usePasswordCode({ account, username, code, newPassword, ip }: CodeUse): Promise<void> {
    const { store } = this.#tools;
    const mark = Buffer.from(this.#parts.keys.codeMark(code));
    const verify = () => {
      const found = store.read((db) => {
        const user = this.#named(db, account, username);
        return user?.locked === false && this.#hasCode(db, user, mark) ? user : undefined;
      });
      return Promise.resolve(found);
    };
    const attempt = { username: this.#attemptName(account, username), ip };
    const before = await this.#attempts.guard(attempt, verify, fail('password_code_refused'));
    if (!before.accountEnabled) throw fail('account_disabled', { id: before.accountName });
    const hash = await this.#parts.passwords.hashed(before, newPassword);
    await store.write((tx) => {
      const user = unchanged(tx, before);
      if (!this.#hasCode(tx, user, mark)) throw fail('password_code_refused');
      this.#setPassword(tx, user, hash);
      repository.replaceAccessKey(tx, user.number, this.#parts.keys.accessKey());
      const title = `User ${user.username} of ${user.accountName} set a password with a code, from ${ip}.`;
      this.#record(tx, user, title, 'notice');
    });
  }

  /** Same time and same answer whether or not the user exists. Earlier codes stay valid, because anyone can ask. */
  async resetPassword({ account, username, ip }: { account: string; username: string; ip: string }): Promise<void> {
    this.#resetsFrom.consume(ip);
    this.#resetsOf.consume(ip, `${account}/${username}`);
    const { store, events, clock } = this.#tools;
    const { keys } = this.#parts;
    const { code, ...kept } = keys.code();
    await store.write((tx) => {
      const now = clock.now();
      const user = this.#named(tx, account, username);
      const title = `A new password for ${username} of ${account} was asked for from ${ip}.`;
      events.record(tx, { severity: 'notice', title, subject: `account:${user?.accountName ?? account}` });
      if (!user || user.email === null || user.locked || !user.accountEnabled) return;
      if (repository.codesOf(tx, user.number, now).length >= CODES_MAX) return;
      repository.addCode(tx, user.number, kept, now);
      this.#parts.mailbox.post(tx, { to: user.email, ...this.#codeMail(user, code) });
    });
  }

  #hasCode(db: Db, { number }: SealedUser, mark: Buffer): boolean {
    return repository.codesOf(db, number, this.#tools.clock.now()).some((kept) => isSame(mark, kept));
  }

  #codeMail({ username, accountName: account }: SealedUser, code: string): { subject: string; text: string } {
    const { displayName, managementUrl } = this.#tools.configuration();
    const path = `${managementUrl}/api/users/${encodeURIComponent(username)}/password_code`;
    const text = [
      `Somebody asked for a new password for ${username} of the account ${account}.`,
      '',
      `The code is: ${code}`,
      '',
      `It sets a password once, within a day: send it with account, username and new_password to POST ${path}.`,
      'If it was not you, nothing needs to be done: the present password stays.',
      '',
    ].join('\n');
    return { subject: subjectLine(displayName, 'A new password was asked for'), text };
  }

  async #verified(attempt: SignIn): Promise<SealedUser> {
    const user = await this.#known(attempt);
    // Only a caller who knows the password learns it: to others the account may as well not exist.
    if (!user.accountEnabled) throw fail('account_disabled', { id: user.accountName });
    return user;
  }

  #known({ account, user, password, ip }: SignIn): Promise<SealedUser> {
    const { store } = this.#tools;
    return this.#attempts.guard({ username: this.#attemptName(account, user), ip }, async () => {
      const found = store.read((db) => this.#find(db, account, user));
      const isRight = await verifyPassword(password, found?.passwordHash ?? undefined);
      return isRight && found?.locked === false ? found : undefined;
    });
  }

  #unexpired(user: SealedUser): SealedUser {
    const expiresAt = this.#parts.passwords.expiresAt(user) ?? Infinity;
    if (expiresAt <= this.#tools.clock.now()) throw fail('password_expired', { user: user.username });
    return user;
  }

  #setPassword(tx: Tx, user: SealedUser, hash: string): void {
    this.#parts.sessions.signOut(tx, `user:${user.number}`);
    this.#parts.passwords.replace(tx, user, hash, this.#tools.clock.now());
    this.#renewToken(tx, user);
  }

  async #ensureToken(number: number): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const user = existing(tx, number);
      if (user.tokenExpiresAt <= clock.now()) this.#renewToken(tx, user);
    });
  }

  #renewToken(tx: Tx, user: SealedUser): void {
    repository.replaceToken(tx, user.number, this.#parts.keys.token());
    tx.afterCommit(this.#tools.changed);
  }

  #named(db: Db, account: string, username: string): SealedUser | undefined {
    const found = findAccount(db, account) ?? findAccountNamed(db, account);
    return found && repository.findUserNamed(db, found.id, username);
  }

  #find(db: Db, account: string, user: string): SealedUser | undefined {
    const found = findAccount(db, account) ?? findAccountNamed(db, account);
    if (!found) return undefined;
    return repository.findUserNamed(db, found.id, user) ?? repository.findUserByMail(db, found.id, user);
  }

  /** One name for a user, whether the account was given by name or id and the user by name or mail: failures add up. */
  #attemptName(account: string, user: string): string {
    const found = this.#tools.store.read((db) => this.#find(db, account, user));
    return found ? attemptName(found.accountId, found.username) : attemptName(account, user);
  }

  #record(tx: Tx, user: SealedUser, title: string, severity: 'info' | 'notice' = 'info'): void {
    const subject = `account:${user.accountName}`;
    this.#tools.events.record(tx, { severity, title, subject, actor: user.username });
  }
}

function usable(user: SealedUser | undefined): User | undefined {
  return user && !user.locked && user.accountEnabled ? toUser(user) : undefined;
}

function attemptName(account: string, user: string): string {
  return `${account}/${user}`;
}

function existing(db: Db, number: number): SealedUser {
  const user = repository.findUserByNumber(db, number);
  if (!user) throw fail('invalid_credentials');
  return user;
}

/** What was checked must still be so when it is acted upon: a code or a password is good for one caller. */
function unchanged(db: Db, before: SealedUser): SealedUser {
  const user = existing(db, before.number);
  if (user.passwordHash !== before.passwordHash || user.locked) throw fail('invalid_credentials');
  return user;
}

function isSame(mark: Buffer, kept: string): boolean {
  const expected = Buffer.from(kept);
  return expected.length === mark.length && timingSafeEqual(expected, mark);
}
