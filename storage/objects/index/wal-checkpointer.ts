import { Worker } from 'node:worker_threads';
import type { Database } from '@granary/kernel/sqlite';

/** Operations after which a checkpoint is worth its cost; each writes a few pages. */
const OPERATIONS = 2000;
const IDLE_MS = 5000;
/** A log this long is checkpointed while commits wait: only then can SQLite restart it. */
const PAGES_MAX = 16_384;
/** Commits wait as well for a checkpoint that takes so long that this many operations were done since it began. */
const OPERATIONS_MAX = 16_000;
/** Up to this number the checkpoint runs inline: a nearly idle array needs no thread for it. */
const OPERATIONS_INLINE = 200;
/** Used if the thread should fail. */
const INLINE_PAGES = 4000;

/**
 * Checkpoints the write-ahead log in a thread of its own: a checkpoint writes thousands of pages
 * and syncs twice, which would block the event loop. SQLite restarts the log when all of it was
 * checkpointed, which never happens while commits go on; so when it has grown long, commits wait for one checkpoint.
 */
export class WalCheckpointer {
  readonly #database: Database;
  #worker: Worker | undefined;
  #operations = 0;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #answer: (pages: number) => void = () => undefined;
  #isLong = false;
  #failed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Called after each commit. Resolves at once unless the log is too long. */
  async committed(operations: number): Promise<void> {
    if (this.#failed) return;
    this.#operations += operations;
    this.#timer ??= setTimeout(() => this.#checkpointWhenIdle(), IDLE_MS).unref();
    if (this.#operations >= OPERATIONS) this.#start();
    if (!this.#isLong && this.#operations < OPERATIONS_MAX) return;
    await this.#running;
    this.#start();
    await this.#running;
    this.#isLong = false;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#failed = true;
    await this.#running;
    await this.#worker?.terminate();
  }

  #checkpointWhenIdle(): void {
    if (this.#operations > OPERATIONS_INLINE || this.#running || this.#failed) {
      this.#start();
      return;
    }
    this.#timer = undefined;
    this.#operations = 0;
    this.#database.tryCheckpoint();
  }

  #start(): void {
    if (this.#running || this.#failed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#operations = 0;
    this.#running = this.#checkpoint().then((pages) => {
      this.#running = undefined;
      this.#isLong = pages >= PAGES_MAX;
    });
  }

  /** Resolves with the pages that were in the log. */
  #checkpoint(): Promise<number> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#worker ??= this.#newWorker();
      this.#worker.postMessage(null);
    });
  }

  #newWorker(): Worker {
    const options = { name: 'index-log', workerData: this.#database.file };
    const worker = new Worker(new URL('./wal-checkpointer-main.ts', import.meta.url), options);
    worker.unref();
    worker.on('message', (pages: number) => this.#answer(pages));
    worker.on('error', () => this.#fail());
    return worker;
  }

  #fail(): void {
    // Who closes waits for the answer, too.
    if (!this.#failed && this.#database.isOpen) this.#database.checkpointAfter(INLINE_PAGES);
    this.#failed = true;
    this.#answer(0);
  }
}
