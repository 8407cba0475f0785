import type { NfsEvent } from '../events.ts';
import { recordKey, type ClientRecorder, type RecordedClient } from './recorder.ts';

export interface GracePeriodOptions {
  readonly recorder: ClientRecorder;
  readonly graceMs: number;
  readonly now: () => number;
  readonly report: (event: NfsEvent) => void;
}

type ClientName = Pick<RecordedClient, 'kind' | 'name'>;

/**
 * After a restart only those clients get opens and locks that had them before, until all said that they have theirs
 * back or the time is over. Otherwise another client could take a lock that its holder believes to have. Where no client
 * held anything there is nothing to wait for.
 */
export class GracePeriod {
  readonly #options: GracePeriodOptions;
  readonly #before = new Map<string, RecordedClient>();
  /** Have come back, and have said that they claim nothing more. */
  readonly #returned = new Set<string>();
  readonly #completed = new Set<string>();
  #endsAt: number | undefined;

  constructor(options: GracePeriodOptions) {
    this.#options = options;
  }

  /** Clients that held something before this start. */
  async begin(): Promise<readonly RecordedClient[]> {
    const clients = await this.#options.recorder.load();
    for (const client of clients) this.#before.set(recordKey(client), client);
    if (clients.length === 0) return clients;
    this.#endsAt = this.#options.now() + this.#options.graceMs;
    this.#options.report({ type: 'grace-began', clients: clients.length });
    return clients;
  }

  get isActive(): boolean {
    return this.#endsAt !== undefined;
  }

  mayReclaim(client: ClientName): boolean {
    const key = recordKey(client);
    return this.isActive && this.#before.has(key) && !this.#completed.has(key);
  }

  returned(client: ClientName): void {
    this.#returned.add(recordKey(client));
  }

  async completed(client: ClientName): Promise<void> {
    const key = recordKey(client);
    this.#completed.add(key);
    const isLast = [...this.#before.keys()].every((before) => this.#completed.has(before));
    if (this.isActive && isLast) await this.#end();
  }

  /** Called now and then. */
  async watch(): Promise<void> {
    if (this.#endsAt !== undefined && this.#options.now() >= this.#endsAt) await this.#end();
  }

  /** Who did not come back has lost what it held, and must not claim it after the next restart. */
  async #end(): Promise<void> {
    this.#endsAt = undefined;
    const missing = [...this.#before].filter(([key]) => !this.#returned.has(key));
    this.#before.clear();
    this.#returned.clear();
    this.#completed.clear();
    this.#options.report({ type: 'grace-ended', missing: missing.length });
    for (const [, client] of missing) await this.#options.recorder.remove(client);
  }
}
