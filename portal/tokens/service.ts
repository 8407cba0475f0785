import { createHmac, randomBytes } from 'node:crypto';
import {
  fail,
  fingerprint,
  newSecret,
  SignInAttempts,
  verifyPassword,
  type CredentialSource,
  type Sessions,
} from '@granary/kernel';
import { actorIdOf, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import { findUserByActor, findUserByName, findUserByToken, updateToken } from '../users/repository.ts';
import type { User } from '../users/user.ts';

const REMEMBERED_MAX = 10_000;
const REMEMBER_PASSWORD_MS = 5 * 60_000;

interface Remembered {
  readonly user: Promise<User>;
  readonly until: number;
}

/** The code of users who have to send one. */
interface SecondFactor {
  accept(user: User, code: string | undefined): Promise<void>;
}

interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly code?: string | undefined;
}

/** Who is asking: a token, a name and a password, or the session of a browser. */
export class SignIn {
  readonly #tools: Tools;
  readonly #sessions: Sessions;
  readonly #totp: SecondFactor;
  readonly #attempts: SignInAttempts;
  /** Tokens seen since the user last changed: finding one costs a hash, not a query. */
  readonly #actors = new Map<string, PortalActor>();
  /**
   * Passwords verified lately, under a key that lives only in this process: scrypt is too slow to run for every
   * request with basic authentication, and requests that arrive together share one run.
   */
  readonly #passwords = new Map<string, Remembered>();
  readonly #passwordKey = randomBytes(32);

  constructor(tools: Tools, sessions: Sessions, totp: SecondFactor) {
    this.#totp = totp;
    this.#tools = tools;
    this.#sessions = sessions;
    this.#attempts = new SignInAttempts({ clock: tools.clock });
  }

  /** Called when a user changed: what was remembered may no longer hold. */
  invalidate(): void {
    this.#actors.clear();
    this.#passwords.clear();
  }

  /** Whether sign-ins under this name are refused at present for too many wrong passwords. */
  isRefused(username: string): boolean {
    return this.#attempts.isRefused(username);
  }

  authenticate(source: CredentialSource): PortalActor | undefined | Promise<PortalActor | undefined> {
    const token = source.headers['x-token'];
    if (typeof token === 'string') return this.#byToken(token);
    const basic = basicCredentials(source.headers['authorization']);
    if (!basic) return this.#bySession(source);
    // Some clients send the token where the username goes.
    const actor = this.#byToken(basic.username);
    if (actor) return actor;
    return basic.password === '' ? undefined : this.verify(basic, source.ip).then(actorOf);
  }

  async token(credentials: Credentials, ip: string): Promise<string> {
    const user = await this.verify(credentials, ip);
    return this.#tools.vault.unseal(user.tokenSealed);
  }

  async resetToken(credentials: Credentials, ip: string): Promise<string> {
    const { store, vault, events } = this.#tools;
    const user = await this.verify(credentials, ip);
    const token = newSecret();
    await store.write((tx) => {
      updateToken(tx, user.id, fingerprint(token), vault.seal(token));
      events.record(tx, {
        title: `The token of ${user.username} was reset.`,
        subject: `user:${user.id}`,
        actor: user.username,
      });
      tx.afterCommit(() => {
        this.invalidate();
      });
      // What was opened with the token of before ends now. Sessions stay, and follow again.
      this.#sessions.rightsChanged(tx, actorIdOf(user.id));
    });
    return token;
  }

  /** By name and password, and a code where the user signs in with two factors. */
  async verify({ username, password, code }: Credentials, ip: string): Promise<User> {
    const user = await this.#byPassword(username, password, ip);
    await this.#totp.accept(user, code);
    return user;
  }

  /** For a user who is signed in. */
  verifyPassword(username: string, password: string, ip: string): Promise<User> {
    return this.#byPassword(username, password, ip);
  }

  #bySession({ headers, socket, endpoint: { method } }: CredentialSource): PortalActor | undefined {
    const session = this.#sessions.find({ headers, socket, method });
    if (!session) return undefined;
    const user = this.#tools.store.read((db) => findUserByActor(db, session.user));
    if (!user) return undefined;
    refuseDisabled(user);
    return { ...actorOf(user), sessionId: session.id };
  }

  #byToken(token: string): PortalActor | undefined {
    const print = fingerprint(token);
    const known = this.#actors.get(print);
    if (known) return known;
    const user = this.#tools.store.read((db) => findUserByToken(db, print));
    if (!user) return undefined;
    refuseDisabled(user);
    if (this.#actors.size >= REMEMBERED_MAX) this.#actors.clear();
    const actor = actorOf(user);
    this.#actors.set(print, actor);
    return actor;
  }

  async #byPassword(username: string, password: string, ip: string): Promise<User> {
    // Before anything that is remembered: during a lock-out a right password must look like a wrong one.
    this.#attempts.check({ username, ip });
    const now = this.#tools.clock.now();
    const key = createHmac('sha256', this.#passwordKey).update(`${username}\0${password}`).digest('base64');
    let known = this.#passwords.get(key);
    if (!known || known.until < now) {
      known = { user: this.#verify(username, password, ip), until: now + REMEMBER_PASSWORD_MS };
      if (this.#passwords.size >= REMEMBERED_MAX) this.#passwords.clear();
      this.#passwords.set(key, known);
      // A wrong password is not remembered: each try counts.
      known.user.catch(() => this.#passwords.delete(key));
    }
    const user = await known.user;
    refuseDisabled(user);
    return user;
  }

  #verify(username: string, password: string, ip: string): Promise<User> {
    return this.#attempts.guard({ username, ip }, async () => {
      const user = this.#tools.store.read((db) => findUserByName(db, username));
      return (await verifyPassword(password, user?.passwordHash)) ? user : undefined;
    });
  }
}

/** Only for a caller with the token or the password. */
function refuseDisabled({ username, disabledAt }: User): void {
  if (disabledAt !== null) throw fail('user_disabled', { username });
}

export function actorOf(user: User): PortalActor {
  return {
    id: actorIdOf(user.id),
    userId: user.id,
    username: user.username,
    role: user.role,
    autoApproved: user.autoApproved,
  };
}

function basicCredentials(header: string | string[] | undefined): { username: string; password: string } | undefined {
  const encoded = typeof header === 'string' ? /^Basic ([A-Za-z0-9+/=_-]{1,2048})$/i.exec(header)?.[1] : undefined;
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1
    ? { username: text, password: '' }
    : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
