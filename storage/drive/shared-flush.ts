/**
 * Shares a flush between concurrent callers. A running flush may have started before the caller's write, so a caller
 * joins the next one: at most one runs and one is queued.
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
    // First: between the end of one flush and the start of the next none is running, and a new caller must not start a
    // second one.
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
