import type { Clock } from '../clock.ts';
import { fail, GranaryError } from '../errors.ts';
import { fingerprint, newSecret } from './vault.ts';

/** Tells such a key from those of users, so that one that has gone does not count as a guess of the portal's address. */
const PREFIX = 'portal.';
const KEY_BYTES = 32;
const KEYS_MAX = 4_096;
const LIFE_MS = 3_600_000;
const IDLE_MS = 600_000;
/** How the portal learns that it needs another key: what is refused otherwise has no such header. */
const REFUSAL_HEADERS = { 'x-granary-key': 'unknown' };

/** A user as the keys need it. A key ends when what is asked for its number is absent or has another role. */
interface Holder {
  readonly role: string;
}

interface DelegatedKeysOptions<U extends Holder> {
  readonly clock: Clock;
  /** The user of the number, unless they may not sign in. */
  readonly find: (user: number) => U | undefined;
}

interface Entry {
  readonly id: string;
  readonly mark: string;
  readonly user: number;
  readonly role: string;
  readonly isForSession: boolean;
  /** The portal's name of who acts as the user: several people may act as one. */
  readonly person: string;
  readonly expiresAt: number;
  usedAt: number;
}

export interface DelegatedKey {
  readonly id: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly idleSeconds: number;
}

/** A user as whom the portal acts. */
export interface Delegated<U> {
  readonly user: U;
  readonly hidesSecrets: boolean;
  readonly person: string;
}

export function isDelegatedKey(key: string): boolean {
  return key.startsWith(PREFIX);
}

export function unknownDelegatedKey(): GranaryError {
  const { entry, message } = fail('delegated_key_unknown');
  return new GranaryError(entry, message, { headers: REFUSAL_HEADERS });
}

/**
 * Keys by which the portal acts as users of this array. They are kept in memory, as hashes: a restart ends them, and the
 * portal asks for others.
 */
export class DelegatedKeys<U extends Holder> {
  readonly #clock: Clock;
  readonly #find: (user: number) => U | undefined;
  /** By the hash of the key; the one used longest ago comes first. */
  readonly #entries = new Map<string, Entry>();
  readonly #marks = new Map<string, string>();

  constructor({ clock, find }: DelegatedKeysOptions<U>) {
    this.#clock = clock;
    this.#find = find;
  }

  get size(): number {
    return this.#entries.size;
  }

  issue({ user, role, isForSession, person }: Pick<Entry, 'user' | 'role' | 'isForSession' | 'person'>): DelegatedKey {
    const now = this.#clock.now();
    this.#dropIdle(now);
    const first = this.#entries.values().next();
    if (this.#entries.size >= KEYS_MAX && !first.done) this.#remove(first.value);
    const key = PREFIX + newSecret(KEY_BYTES);
    const id = newSecret();
    const mark = fingerprint(key);
    const expiresAt = now + LIFE_MS;
    this.#entries.set(mark, { id, mark, user, role, isForSession, person, expiresAt, usedAt: now });
    this.#marks.set(id, mark);
    return { id, key, expiresAt, idleSeconds: IDLE_MS / 1000 };
  }

  /** Whom the key acts as; undefined when it is not good, or not any more. */
  holderOf(key: string): Delegated<U> | undefined {
    const mark = fingerprint(key);
    const user = this.#use(mark);
    const entry = this.#entries.get(mark);
    return user && entry && { user, hidesSecrets: entry.isForSession, person: entry.person };
  }

  /** Throws unless the key is good; asking keeps it so. */
  check(id: string): void {
    if (!this.#use(this.#marks.get(id) ?? '')) throw unknownDelegatedKey();
  }

  drop(id: string): void {
    const entry = this.#entries.get(this.#marks.get(id) ?? '');
    if (entry) this.#remove(entry);
  }

  #use(mark: string): U | undefined {
    const entry = this.#entries.get(mark);
    if (!entry) return undefined;
    const now = this.#clock.now();
    const holder = isOver(entry, now) ? undefined : this.#find(entry.user);
    if (holder?.role !== entry.role) {
      this.#remove(entry);
      return undefined;
    }
    entry.usedAt = now;
    this.#entries.delete(mark);
    this.#entries.set(mark, entry);
    return holder;
  }

  #dropIdle(now: number): void {
    for (const entry of this.#entries.values()) if (isOver(entry, now)) this.#remove(entry);
  }

  #remove({ mark, id }: Entry): void {
    this.#entries.delete(mark);
    this.#marks.delete(id);
  }
}

function isOver({ expiresAt, usedAt }: Entry, now: number): boolean {
  return expiresAt <= now || usedAt + IDLE_MS <= now;
}
