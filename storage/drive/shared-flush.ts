/**
 * Lets callers share a flush. One that is already running may have started before the caller's write, so a caller joins
 * the next one: at most one runs and one waits, however many ask.
 */
export class SharedFlush {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  run(): Promise<void> {
    // First: between the end of one and the start of the next none runs, and a newcomer must not slip in beside it.
    if (this.#queued !== undefined) return this.#queued;
    if (this.#running === undefined) return this.#start();
    this.#queued = this.#running.then(
      () => this.#next(),
      () => this.#next(),
    );
    return this.#queued;
  }

  #next(): Promise<void> {
    this.#queued = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#flush().finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
