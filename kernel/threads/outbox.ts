import type { Transferable } from 'node:worker_threads';

interface Line<T> {
  post(messages: readonly T[], transfer: readonly Transferable[]): void;
  /** One of those that waited holds what cannot cross; the others are on their way. */
  onUnsendable(message: T, error: unknown): void;
  /**
   * When what was noted goes. By default at the end of this turn of the event loop; `process.nextTick` is for what should
   * not wait for everything else that is due in it.
   */
  readonly later?: (send: () => void) => void;
}

const NOTHING: readonly Transferable[] = [];

/**
 * Messages to another thread. To wake it costs more than a message does, and what reaches it together shares a commit
 * there: so what is noted in one turn of the event loop, or in one go, is sent as one.
 */
export class Outbox<T> {
  readonly #line: Line<T>;
  #waiting: T[] = [];
  /** What goes over with those that wait, by their places; most have nothing. */
  #transfers: (readonly Transferable[])[] = [];

  constructor(line: Line<T>) {
    this.#line = line;
  }

  add(message: T, transfer: readonly Transferable[] = NOTHING): void {
    if (this.#waiting.length === 0) (this.#line.later ?? setImmediate)(() => this.#sendWaiting());
    this.#waiting.push(message);
    this.#transfers.push(transfer);
  }

  /** Goes at once, after those that wait: order is kept. Throws if it cannot cross. */
  send(message: T, transfer: Transferable[] = []): void {
    this.#sendWaiting();
    this.#line.post([message], transfer);
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    const transfers = this.#transfers;
    this.#waiting = [];
    this.#transfers = [];
    try {
      this.#line.post(messages, transfers.flat());
    } catch {
      // Nothing has gone over: one that cannot keeps all here.
      messages.forEach((message, place) => this.#sendAlone(message, transfers[place] ?? NOTHING));
    }
  }

  #sendAlone(message: T, transfer: readonly Transferable[]): void {
    try {
      this.#line.post([message], transfer);
    } catch (error) {
      this.#line.onUnsendable(message, error);
    }
  }
}
