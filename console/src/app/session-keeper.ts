import { isSignedOut } from '../api/send.ts';

/** A signed-in person, as the service describes the session. */
export interface Session {
  readonly id: string;
  readonly username: string;
  readonly role: string;
  readonly csrf_token: string;
  readonly idle_minutes: number;
  readonly expires_at: string;
  readonly auto_approved?: boolean;
  readonly user_id?: number;
  readonly account_id?: string;
  readonly account_name?: string;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly account?: string;
  readonly code?: string;
}

export interface SessionState {
  /** `undefined` while the service is asked, `null` without a session. */
  readonly session: Session | null | undefined;
  /** Whether somebody was signed in here, and did not sign out. */
  readonly hasEnded: boolean;
  /** The service could not be asked; it is asked again. */
  readonly isUnanswered: boolean;
}

/** What tabs of one browser tell each other. They share the cookie, and so the session. */
export type TabWord = 'signed-out' | 'signed-in';

interface Parts {
  readonly request: (method: string, path: string, body?: object) => Promise<Session | undefined>;
  readonly tell: (word: TabWord) => void;
  readonly setToken: (token: string | undefined) => void;
  /** Nothing that was shown stays in memory for the next person at this browser. */
  readonly drop: () => void;
  readonly schedule: (action: () => void, ms: number) => void;
}

const ASK_AGAIN_MS = 2_000;

/** Knows whose session the browser has, and follows what other tabs and the service make of it. */
export class SessionKeeper {
  readonly #parts: Parts;
  readonly #listeners = new Set<() => void>();
  #state: SessionState = { session: undefined, hasEnded: false, isUnanswered: false };

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly snapshot = (): SessionState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A service that does not answer has not said that nobody is signed in: it is asked until it answers. */
  async start(): Promise<void> {
    try {
      const session = await this.#parts.request('GET', '/current');
      this.#begin(session ?? null);
    } catch (error) {
      if (isSignedOut(error)) {
        this.#begin(null);
        return;
      }
      this.#set({ isUnanswered: true });
      this.#parts.schedule(() => void this.start(), ASK_AGAIN_MS);
    }
  }

  async enter(credentials: Credentials): Promise<void> {
    const session = await this.#parts.request('POST', '', credentials);
    this.#begin(session ?? null);
    this.#parts.tell('signed-in');
  }

  /** Throws where the service could not be told: the session goes on then. */
  async leave(): Promise<void> {
    try {
      await this.#parts.request('DELETE', '/current');
    } catch (error) {
      if (!isSignedOut(error)) throw error;
    }
    this.#parts.tell('signed-out');
    this.#end(false);
  }

  /** The service says that the session is over. */
  expire(): void {
    this.#end(true);
  }

  /** Another tab has signed out, or in. */
  hear(word: unknown): void {
    if (word === 'signed-out') this.#end(false);
    if (word === 'signed-in') void this.look();
  }

  /** What is offered follows the person's role, and the person, while the page is open. */
  async look(): Promise<void> {
    const before = this.#state.session;
    const session = await this.#parts.request('GET', '/current').catch((error: unknown) => {
      if (before && isSignedOut(error) && this.#state.session === before) this.#end(true);
    });
    const isCurrent = this.#state.session === before;
    if (session && isCurrent && !isSamePerson(before, session)) this.#begin(session);
  }

  #begin(session: Session | null, hasEnded = false): void {
    const before = this.#state.session;
    this.#parts.setToken(session?.csrf_token);
    this.#set({ session, hasEnded, isUnanswered: false });
    if (before && before.id !== session?.id) this.#parts.drop();
  }

  #end(hasEnded: boolean): void {
    if (this.#state.session) this.#begin(null, hasEnded);
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function isSamePerson(before: Session | null | undefined, now: Session): boolean {
  const fields = ['id', 'username', 'role', 'auto_approved', 'account_id', 'account_name'] as const;
  return !!before && fields.every((field) => before[field] === now[field]);
}
