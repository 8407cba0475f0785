import { timingSafeEqual } from 'node:crypto';
import { fingerprint, newSecret, type Vault } from '../auth/vault.ts';
import type { Clock } from '../clock.ts';
import { fail } from '../errors.ts';
import type { EventLog } from '../events/events.ts';
import { refuseForeignPages } from '../http/foreign-pages.ts';
import type { CredentialSource } from '../http/types.ts';
import type { Log } from '../log.ts';
import { WHOLE, type Page } from '../records/paging.ts';
import type { Store, Tx } from '../store/index.ts';
import { cookieHeader, readCookie } from './cookie.ts';
import { SessionSettings } from './limits.ts';
import * as repository from './repository.ts';
import type { Session, SessionLimits } from './session.ts';

/*
 * Sign-ins of browsers.
 *
 * A cookie holds 256 random bits; the database has their SHA-256, so a stolen database opens nothing. A session is there
 * when its row is: signing in is answered after the row is durable, and so is signing out, therefore a kill -9 neither loses
 * a session that was acknowledged nor brings one back that ended. Every request reads the row; what ends a session deletes
 * it in the transaction of the change that ends it, and counts from the next request on.
 *
 * A browser sends a cookie by itself, whichever page made it send the request. Every method but GET and HEAD therefore needs
 * `X-CSRF-Token`, which only a page of this origin can read, and a browser's own statement that the page is of this origin.
 * No GET changes anything. The token is a keyed hash of the session's number: nothing of it is stored.
 *
 * What a page reads by itself says so (`X-Unattended`), and a stream of events stays open by itself: neither keeps a session
 * going in an empty room.
 *
 * The time of the last request is kept in memory and written once a minute at most; after a restart a session may end up to
 * a minute early.
 */

const VALUE_BYTES = 32;
const VALUE_FORM = /^[\w-]{43}$/;
const WRITE_SEEN_MS = 60_000;
const SWEEP_MS = 30_000;
const SESSIONS_OF_USER_MAX = 20;
const USER_AGENT_LENGTH_MAX = 256;
const SAFE_METHODS = new Set(['GET', 'HEAD']);

interface SessionTools {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly log: Log;
}

/** What a request shows of its session. */
export type SessionRequest = Pick<CredentialSource, 'headers' | 'socket'> & { readonly method: string };

export interface NewSession {
  readonly user: string;
  readonly ip: string;
  readonly userAgent: string | undefined;
}

type EndListener = (id: number) => void;
type RightsListener = (user: string, exceptSession: number | undefined) => void;

export class Sessions {
  readonly settings: SessionSettings;
  readonly #tools: SessionTools;
  readonly #cookieName: () => string;
  readonly #listeners = new Set<EndListener>();
  readonly #rightsListeners = new Set<RightsListener>();
  readonly #seenAt = new Map<number, number>();
  readonly #writing = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  /** `place` tells the cookie from those of other services at the same host: browsers do not look at the port. */
  constructor(tools: SessionTools, place: () => string) {
    this.#tools = tools;
    this.#cookieName = () => `granary_${place()}`;
    this.settings = new SessionSettings(tools);
  }

  /** Ends sessions whose time is over, whether or not a request asks for them. */
  start(): void {
    this.#timer = setInterval(() => {
      this.sweep().catch((error: unknown) => this.#tools.log.error({ error }, 'sessions could not be ended'));
    }, SWEEP_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Called with the number of each session that ended, once that is durable. Must not throw. */
  onEnded(listener: EndListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Called with each user whose rights changed, once that is durable: what is open by the rights of before ends, whether
   * a session, a token or a key opened it. Only the session named keeps what it has open. Must not throw.
   */
  onRightsChanged(listener: RightsListener): () => void {
    this.#rightsListeners.add(listener);
    return () => this.#rightsListeners.delete(listener);
  }

  /** The session of a request; throws where the cookie is right but a page of another origin may have sent it. */
  find(request: SessionRequest): Session | undefined {
    const value = readCookie(this.#cookieName(), request);
    if (value === undefined || !VALUE_FORM.test(value)) return undefined;
    const session = this.#tools.store.read((db) => repository.findSessionByMark(db, fingerprint(value)));
    if (!session || this.#isOver(session)) return undefined;
    if (!SAFE_METHODS.has(request.method)) {
      refuseForeignPages(request.headers);
      if (!isSame(request.headers['x-csrf-token'], this.csrfToken(session.id))) throw fail('csrf_token_needed');
    }
    if (isAttended(request)) this.#touch(session);
    return session;
  }

  csrfToken(id: number): string {
    return this.#tools.vault.mark(`csrf ${id}`);
  }

  /** The header that gives the browser its cookie. */
  cookie(value: string, isSecure: boolean): string {
    const maxAgeSeconds = this.settings.current().hoursMax * 3600;
    return cookieHeader(this.#cookieName(), value, { isSecure, maxAgeSeconds });
  }

  /** The header that takes it away. */
  expiredCookie(isSecure: boolean): string {
    return cookieHeader(this.#cookieName(), '', { isSecure, maxAgeSeconds: 0 });
  }

  /** `work` is of the same transaction: it throws when the user may no longer sign in. */
  async begin(
    { user, ip, userAgent }: NewSession,
    work: (tx: Tx) => void,
  ): Promise<{ session: Session; value: string }> {
    const { store, clock } = this.#tools;
    const value = newSecret(VALUE_BYTES);
    const session = await store.write((tx) => {
      work(tx);
      const open = repository.listSessions(tx, user, WHOLE).toSorted((a, b) => this.seenAt(a) - this.seenAt(b));
      const beyond = Math.max(0, open.length - SESSIONS_OF_USER_MAX + 1);
      this.#end(tx, open.slice(0, beyond));
      const now = clock.now();
      const row = {
        user,
        valueMark: fingerprint(value),
        createdAt: now,
        seenAt: now,
        ip,
        userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      };
      return { id: repository.insertSession(tx, row), ...row };
    });
    return { session, value };
  }

  /** Those that last: of one user, or of all when it is null. */
  list(user: string | null, page: Page): { sessions: Session[]; count: number } {
    return this.#tools.store.read((db) => ({
      sessions: repository.listSessions(db, user, page),
      count: repository.countSessions(db, user),
    }));
  }

  get(id: number): Session | undefined {
    const session = this.#tools.store.read((db) => repository.findSession(db, id));
    return session && !this.#isOver(session) ? session : undefined;
  }

  seenAt({ id, seenAt }: Session): number {
    return Math.max(seenAt, this.#seenAt.get(id) ?? 0);
  }

  expiresAt({ createdAt }: Session): number {
    return createdAt + this.settings.current().hoursMax * 3_600_000;
  }

  /** `work` is of the same transaction; nothing happens where it has ended already. */
  async end(session: Session, work: (tx: Tx) => void): Promise<void> {
    await this.#tools.store.write((tx) => {
      if (!repository.findSession(tx, session.id)) return;
      this.#end(tx, [session]);
      work(tx);
    });
  }

  /** All of a user, but for the one named: in the transaction of what takes the user's rights. */
  endOfUser(tx: Tx, user: string, except?: number): void {
    const open = repository.listSessions(tx, user, WHOLE);
    this.#end(
      tx,
      open.filter(({ id }) => id !== except),
    );
  }

  /** In the transaction of a change of the user's rights. The sessions go on: each request is authorised anew. */
  rightsChanged(tx: Tx, user: string, exceptSession?: number): void {
    tx.afterCommit(() => {
      for (const listener of this.#rightsListeners) listener(user, exceptSession);
    });
  }

  /** Ends the sessions of a user whose token or key ends, too, and what is open by any of them. */
  signOut(tx: Tx, user: string, exceptSession?: number): void {
    this.endOfUser(tx, user, exceptSession);
    this.rightsChanged(tx, user, exceptSession);
  }

  /** Counts for those that are open, too; what has ended by then stays so. */
  async changeLimits(limits: SessionLimits, actor: string): Promise<void> {
    await this.sweep();
    await this.settings.change(limits, actor);
  }

  /** Records that somebody had secrets shown to a page. `subject` is what events of the user are about. */
  async recordLook({ username, subject }: { readonly username: string; readonly subject: string }, what: string) {
    const { store, events } = this.#tools;
    const title = `${username} looked at ${what}.`;
    await store.write((tx) => events.record(tx, { severity: 'notice', title, subject, actor: username }));
  }

  /** Ends those whose time is over. */
  async sweep(): Promise<void> {
    const { store, clock } = this.#tools;
    const over = (session: Session) => this.#isOver(session);
    const { idleMinutes, hoursMax } = this.settings.current();
    const now = clock.now();
    const times = { seenBefore: now - idleMinutes * 60_000, createdBefore: now - hoursMax * 3_600_000 };
    if (!store.read((db) => repository.listSessionsBefore(db, times)).some(over)) return;
    await store.writeUnlessFull((tx) => {
      this.#end(tx, repository.listSessionsBefore(tx, times).filter(over));
    });
  }

  #isOver(session: Session): boolean {
    const now = this.#tools.clock.now();
    const { idleMinutes } = this.settings.current();
    return now >= this.seenAt(session) + idleMinutes * 60_000 || now >= this.expiresAt(session);
  }

  #end(tx: Tx, sessions: readonly Session[]): void {
    const ended = sessions.map(({ id }) => id).filter((id) => repository.deleteSession(tx, id));
    tx.afterCommit(() => {
      for (const id of ended) {
        this.#seenAt.delete(id);
        for (const listener of this.#listeners) listener(id);
      }
    });
  }

  #touch(session: Session): void {
    const { store, clock, log } = this.#tools;
    const { id } = session;
    const now = clock.now();
    this.#seenAt.set(id, now);
    if (now - session.seenAt < WRITE_SEEN_MS || this.#writing.has(id)) return;
    this.#writing.add(id);
    store
      .writeUnlessFull((tx) => repository.updateSeen(tx, id, now))
      .catch((error: unknown) => log.error({ error }, 'the last use of a session could not be written'))
      .finally(() => this.#writing.delete(id));
  }
}

/** Whether a person is behind it, as far as the page knows. A change always is somebody's doing. */
function isAttended({ method, headers }: SessionRequest): boolean {
  if (!SAFE_METHODS.has(method)) return true;
  return headers['x-unattended'] === undefined && !String(headers['accept']).startsWith('text/event-stream');
}

function isSame(given: string | string[] | undefined, expected: string): boolean {
  if (typeof given !== 'string') return false;
  return timingSafeEqual(Buffer.from(fingerprint(given)), Buffer.from(fingerprint(expected)));
}
