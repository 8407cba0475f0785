import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Log, Store } from '@granary/kernel';
import type { NewEntry } from './entry.ts';
import {
  countOfKinds,
  deleteEntriesUntil,
  entryRange,
  insertEntries,
  listEntries,
  type Entry,
  type KindFilter,
  type SortKey,
} from './repository.ts';

interface AccessLogOptions {
  /** A file of its own: it is written continuously, and no request waits for it. */
  readonly store: Store;
  readonly log: Log;
  readonly entriesMax?: number;
}

interface Asked {
  readonly limit: number;
  /** Counted from 1. */
  readonly page: number;
  readonly sort: readonly SortKey[];
  readonly filter?: KindFilter | undefined;
}

/** Then the oldest go. */
const ENTRIES_MAX = 1_000_000;
/** Those that are not written yet; more are counted and not kept. */
const WAITING_MAX = 100_000;
/** Inserted in one go: others have a turn in between. */
const BATCH_MAX = 1_000;
const WRITE_EVERY_MS = 1_000;

const PAGE_MAX = 10_000;

/** Who asked what of the array, the data path and the management alike. Written each second. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #max: number;
  #waiting: NewEntry[] = [];
  #missed = 0;
  #turn: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#max = options.entriesMax ?? ENTRIES_MAX;
  }

  start(): void {
    this.#timer = setInterval(() => this.#writeQuietly(), WRITE_EVERY_MS).unref();
  }

  add(entry: NewEntry): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(entry);
    else this.#missed += 1;
  }

  /** What was noted before is among them. */
  async list({ limit, page, sort, filter }: Asked): Promise<{ entries: Entry[]; count: number }> {
    await this.write();
    const size = limit === 0 ? PAGE_MAX : Math.min(limit, PAGE_MAX);
    return this.#options.store.read((db) => {
      const { first, last } = entryRange(db);
      const entries = listEntries(db, sort, { start: (page - 1) * size, limit: size }, filter);
      return { entries, count: filter ? countOfKinds(db, filter) : last - first + 1 };
    });
  }

  write(): Promise<void> {
    this.#turn = this.#turn.catch(() => undefined).then(() => this.#write());
    return this.#turn;
  }

  async finish(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      await this.#options.store.write((tx) => {
        deleteEntriesUntil(tx, insertEntries(tx, batch) - this.#max);
      });
      this.#waiting = this.#waiting.slice(batch.length);
      await yieldTurn();
    }
    if (this.#missed === 0) return;
    this.#options.log.warn({ entries: this.#missed }, 'the access log could not keep up; some requests are not in it');
    this.#missed = 0;
  }

  #writeQuietly(): void {
    this.write().catch((error: unknown) =>
      this.#options.log.error({ error }, 'the access log could not be written; its entries wait'),
    );
  }
}
