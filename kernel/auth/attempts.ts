import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { addressKey } from '../edge/index.ts';
import { fail, retryLater, type GranaryError } from '../errors.ts';

export interface AttemptLimits {
  /** Failures of one name from one address, or of any name from one address, before sign-ins from there are blocked. */
  readonly perUsername: number;
  readonly perAddress: number;
  /** Failures that are answered at once; each further one is delayed twice as long as the one before. */
  readonly unslowed: number;
  readonly slowMsMax: number;
  /** The duration of the first block; each further failure doubles it. */
  readonly blockMs: number;
  readonly blockMsMax: number;
  /** Failures are dropped after this time without another. */
  readonly memoryMs: number;
  /** Names and addresses remembered; the least recently used one is evicted. */
  readonly entriesMax: number;
}

export const attemptLimits: AttemptLimits = {
  perUsername: 10,
  perAddress: 40,
  unslowed: 3,
  slowMsMax: 2_000,
  blockMs: 15_000,
  blockMsMax: 15 * 60_000,
  memoryMs: 30 * 60_000,
  entriesMax: 20_000,
};

const SLOW_FIRST_MS = 100;

export interface Attempt {
  readonly username: string;
  readonly ip: string;
}

interface Entry {
  failures: number;
  lastAt: number;
  blockedUntil: number;
}

/** Checks in progress, and those waiting for one of them to end. */
interface Turn {
  running: number;
  readonly waiting: (() => void)[];
}

interface SignInAttemptsOptions {
  readonly clock: Clock;
  readonly limits?: Partial<AttemptLimits>;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/**
 * Counts failed sign-ins by name and by address: the first are answered at once, further ones with a delay, and many
 * are refused. A name is refused only at the addresses the failures came from, so that one user cannot lock out
 * another.
 */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #limits: AttemptLimits;
  readonly #wait: (ms: number) => Promise<unknown>;
  readonly #entries = new Map<string, Entry>();
  readonly #turns = new Map<string, Turn>();
  /** Until when each name is refused at the address that failed last: for display, never enforced elsewhere. */
  readonly #refusedUntil = new Map<string, number>();

  constructor({ clock, limits, wait = sleep }: SignInAttemptsOptions) {
    this.#clock = clock;
    this.#limits = { ...attemptLimits, ...limits };
    this.#wait = wait;
  }

  /**
   * Verifies a password. At most as many verifications run at a time as failures are left, so that a thousand
   * concurrent guesses are not started before the first is counted; right passwords are serialized.
   */
  async guard<T>(attempt: Attempt, verify: () => Promise<T | undefined>, refusal?: GranaryError): Promise<T> {
    await this.#acquireTurn(attempt);
    let found: T | undefined;
    try {
      found = await verify();
      if (found === undefined) this.#count(attempt);
      else this.#evict(attempt);
    } finally {
      this.#endTurn(attempt);
    }
    return found ?? this.#reject(attempt, refusal);
  }

  /** After a wrong key. Keys are too long to guess, so a right key is never delayed by wrong ones before it. */
  async refuse(attempt: Attempt, refusal?: GranaryError): Promise<never> {
    this.check(attempt);
    this.#count(attempt);
    return this.#reject(attempt, refusal);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether sign-ins under this name are refused now, at one address at least. */
  isRefused(username: string): boolean {
    const { username: key } = keysOf({ username, ip: '' });
    const until = this.#refusedUntil.get(key);
    if (until === undefined || until > this.#clock.now()) return until !== undefined;
    this.#refusedUntil.delete(key);
    return false;
  }

  async #reject(attempt: Attempt, refusal = fail('invalid_credentials')): Promise<never> {
    const failures = Math.max(...Object.values(keysOf(attempt)).map((key) => this.#entries.get(key)?.failures ?? 0));
    const beyond = failures - this.#limits.unslowed;
    if (beyond > 0) await this.#wait(Math.min(SLOW_FIRST_MS * 2 ** (beyond - 1), this.#limits.slowMsMax));
    throw refusal;
  }

  /** Refuses a client with too many recent failures, whatever its credentials. */
  check(attempt: Attempt): void {
    const now = this.#clock.now();
    const { pair, address } = keysOf(attempt);
    const until = Math.max(...[pair, address].map((key) => this.#entries.get(key)?.blockedUntil ?? 0));
    if (until <= now) return;
    const seconds = Math.ceil((until - now) / 1000);
    throw retryLater('too_many_attempts', seconds);
  }

  #count(attempt: Attempt): void {
    const { pair, address, username } = keysOf(attempt);
    this.#showRefusal(username, this.#countOne(pair, this.#limits.perUsername));
    this.#countOne(address, this.#limits.perAddress);
    this.#countOne(username, Infinity);
  }

  #showRefusal(username: string, until: number): void {
    if (until === 0) return;
    this.#refusedUntil.set(username, until);
    const oldest =
      this.#refusedUntil.size > this.#limits.entriesMax ? this.#refusedUntil.keys().next().value : undefined;
    if (oldest !== undefined) this.#refusedUntil.delete(oldest);
  }

  #evict(attempt: Attempt): void {
    const { pair, username } = keysOf(attempt);
    for (const key of [pair, username]) this.#entries.delete(key);
  }

  /** Counts a failure; returns until when the key is refused, 0 when it is not. */
  #countOne(key: string, max: number): number {
    const { memoryMs, blockMs, blockMsMax, entriesMax } = this.#limits;
    const now = this.#clock.now();
    const known = this.#entries.get(key);
    const failures = known && now - known.lastAt < memoryMs ? known.failures + 1 : 1;
    const block = failures < max ? 0 : Math.min(blockMs * 2 ** (failures - max), blockMsMax);
    // Deleted first, so that the map is ordered by last use.
    this.#entries.delete(key);
    const blockedUntil = block === 0 ? 0 : now + block;
    this.#entries.set(key, { failures, lastAt: now, blockedUntil });
    const oldest = this.#entries.size > entriesMax ? this.#entries.keys().next().value : undefined;
    if (oldest !== undefined) this.#entries.delete(oldest);
    return blockedUntil;
  }

  async #acquireTurn(attempt: Attempt): Promise<void> {
    const { pair, address } = keysOf(attempt);
    for (;;) {
      this.check(attempt);
      const turn = this.#crowded(pair, this.#limits.perUsername) ?? this.#crowded(address, this.#limits.perAddress);
      if (!turn) break;
      await new Promise<void>((resolve) => turn.waiting.push(resolve));
    }
    for (const key of [pair, address]) {
      const turn = this.#turns.get(key) ?? { running: 0, waiting: [] };
      turn.running += 1;
      this.#turns.set(key, turn);
    }
  }

  #crowded(key: string, max: number): Turn | undefined {
    const turn = this.#turns.get(key);
    const failures = this.#entries.get(key)?.failures ?? 0;
    return turn && turn.running + failures >= max ? turn : undefined;
  }

  #endTurn(attempt: Attempt): void {
    const { pair, address } = keysOf(attempt);
    for (const key of [pair, address]) {
      const turn = this.#turns.get(key);
      if (!turn) continue;
      turn.running -= 1;
      if (turn.running === 0) this.#turns.delete(key);
      for (const resolve of turn.waiting.splice(0)) resolve();
    }
  }
}

const NAME_LENGTH_MAX = 128;

function keysOf({ username, ip }: Attempt): { username: string; address: string; pair: string } {
  const name = username.slice(0, NAME_LENGTH_MAX).toLowerCase();
  // A client with one IPv6 address has its whole /64.
  const from = addressKey(ip);
  return { username: `user ${name}`, address: `address ${from}`, pair: `user at ${from} ${name}` };
}
