import type { Transferable } from 'node:worker_threads';

interface Line<T> {
  post(messages: readonly T[], transfer: Transferable[]): void;
  /** One of those that waited holds what cannot cross; the others are on their way. */
  onUnsendable(message: T, error: unknown): void;
  /**
   * When what was noted goes. By default at the end of this turn of the event loop; `process.nextTick` is for what should
   * not wait for everything else that is due in it.
   */
  readonly later?: (send: () => void) => void;
}

/**
 * Messages to another thread. To wake it costs more than a message does, and what reaches it together shares a commit
 * there: so what is noted in one turn of the event loop, or in one go, is sent as one.
 */
export class Outbox<T> {
  readonly #line: Line<T>;
  #waiting: T[] = [];

  constructor(line: Line<T>) {
    this.#line = line;
  }

  add(message: T): void {
    if (this.#waiting.length === 0) (this.#line.later ?? setImmediate)(() => this.#sendWaiting());
    this.#waiting.push(message);
  }

  /** Goes at once, after those that wait: order is kept. Throws if it cannot cross. */
  send(message: T, transfer: Transferable[] = []): void {
    this.#sendWaiting();
    this.#line.post([message], transfer);
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    this.#waiting = [];
    try {
      this.#line.post(messages, []);
    } catch {
      for (const message of messages) this.#sendAlone(message);
    }
  }

  #sendAlone(message: T): void {
    try {
      this.#line.post([message], []);
    } catch (error) {
      this.#line.onUnsendable(message, error);
    }
  }
}
