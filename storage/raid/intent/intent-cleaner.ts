import type { GroupCore } from '../core.ts';

const IDLE_MS_DEFAULT = 5000;

/** Clears marks of the write-intent log: a region without recent writes is consistent once all members are flushed. */
export class IntentCleaner {
  readonly #core: GroupCore;
  readonly #flush: () => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(core: GroupCore, flush: () => Promise<void>, idleMs = IDLE_MS_DEFAULT) {
    this.#core = core;
    this.#flush = flush;
    this.#timer = setInterval(() => this.#tick(), idleMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  #tick(): void {
    this.#running ??= this.#clean().finally(() => {
      this.#running = undefined;
    });
  }

  async #clean(): Promise<void> {
    const { intent } = this.#core;
    if (!this.#mayClean()) return;
    const idle = intent.idleRegions();
    if (idle.length === 0) return;
    try {
      await this.#flush();
      if (this.#mayClean()) await intent.clear(idle.filter((region) => this.#isUntouched(region)));
    } catch {
      // The group is lost, and its marks are needed when it comes back; or the disk is full, and the next tick tries
      // again.
    }
  }

  /** While a member is missing or regions are unsynced, the log records what has to be resynced. */
  #mayClean(): boolean {
    const { membership, unsynced } = this.#core;
    return this.#core.isOpen() && membership.isComplete && unsynced.size === 0;
  }

  #isUntouched(region: number): boolean {
    const { first, end } = this.#core.rowsOf(region);
    return this.#core.intent.isIdle(region) && this.#core.locks.isFree(first, end);
  }
}
