import type { Transferable } from 'node:worker_threads';

interface Line<T> {
  post(messages: readonly T[], transfer: readonly Transferable[]): void;
  /** One of the waiting messages cannot be transferred; the others were sent. */
  onUnsendable(message: T, error: unknown): void;
  /**
   * When waiting messages are sent. By default at the end of this turn of the event loop; `process.nextTick` sends them
   * before other work of the turn.
   */
  readonly later?: (send: () => void) => void;
}

const NOTHING: readonly Transferable[] = [];

/**
 * Messages to another thread. Waking it costs more than a message, and messages that arrive together share a commit: so
 * all messages of one turn of the event loop, or of one tick, are sent as one.
 */
export class Outbox<T> {
  readonly #line: Line<T>;
  #waiting: T[] = [];
  /** The transferables of the waiting messages, by index; most have none. */
  #transfers: (readonly Transferable[])[] = [];

  constructor(line: Line<T>) {
    this.#line = line;
  }

  add(message: T, transfer: readonly Transferable[] = NOTHING): void {
    if (this.#waiting.length === 0) (this.#line.later ?? setImmediate)(() => this.#sendWaiting());
    this.#waiting.push(message);
    this.#transfers.push(transfer);
  }

  /** Sends at once, after the waiting messages: order is kept. Throws if it cannot be transferred. */
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
      // Nothing was sent: one message that cannot be transferred blocks all.
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
