import type { Transferable } from 'node:worker_threads';
import { Outbox } from './outbox.ts';

/** The calls that one side of a line serves: plain data in and out. */
export type Calls<C> = { readonly [K in keyof C]: { readonly args: unknown; readonly result: unknown } };

export type Answers<C extends Calls<C>> = {
  readonly [K in keyof C]: (args: C[K]['args']) => C[K]['result'] | Promise<C[K]['result']>;
};

/** A port, a worker, or its parent's port. */
export interface LineEnd {
  postMessage(value: unknown, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
}

/** An error as it is transferred: it is revived as an error of the same kind, if `revive` knows it. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
}

type Message =
  | { readonly type: 'ask'; readonly id: number; readonly call: string; readonly args: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly type: 'refusal'; readonly id: number; readonly error: PackedError };

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface LineOptions<Here extends Calls<Here>> {
  readonly answers: Answers<Here>;
  readonly revive: (error: PackedError) => Error;
}

/**
 * Requests and replies between two threads, both ways. Waking a thread costs more than a message, and requests that
 * arrive together share a commit: so all messages of one turn are sent as one. They are sent before further requests
 * are handled, because their receivers have waited longer.
 */
export class Line<Here extends Calls<Here>, There extends Calls<There>> {
  readonly #options: LineOptions<Here>;
  readonly #pending = new Map<number, Pending>();
  readonly #outbox: Outbox<Message>;
  #lastId = 0;
  #closed: Error | undefined;

  constructor(end: LineEnd, options: LineOptions<Here>) {
    this.#options = options;
    this.#outbox = new Outbox<Message>({
      post: (messages, transfer) => end.postMessage(messages, transfer),
      later: (send) => process.nextTick(send),
      onUnsendable: (message, error) => this.#reportUnsendable(message, error),
    });
    end.on('message', (messages) => (messages as readonly Message[]).forEach((message) => this.#receive(message)));
  }

  /** Rejects when the other side refuses, or has ended. */
  ask<K extends keyof There>(call: K, args: There[K]['args']): Promise<There[K]['result']> {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#outbox.add({ type: 'ask', id, call: String(call), args });
    });
  }

  /** The other side has ended: pending calls are rejected with the reason. */
  close(reason: Error): void {
    this.#closed = reason;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
  }

  #receive(message: Message): void {
    if (message.type === 'ask') {
      this.#answer(message.id, message.call, message.args);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.type === 'answer') pending?.resolve(message.result);
    else pending?.reject(this.#options.revive(message.error));
  }

  #answer(id: number, call: string, args: unknown): void {
    const answer = this.#options.answers[call as keyof Here];
    try {
      const result = answer(args);
      if (!(result instanceof Promise)) this.#send({ type: 'answer', id, result });
      else
        result.then(
          (value: unknown) => this.#send({ type: 'answer', id, result: value }),
          (error: unknown) => this.#send({ type: 'refusal', id, error: packError(error) }),
        );
    } catch (error) {
      this.#send({ type: 'refusal', id, error: packError(error) });
    }
  }

  #send(message: Message): void {
    if (!this.#closed) this.#outbox.add(message);
  }

  /** A message that cannot be transferred is rejected at its sender. */
  #reportUnsendable(message: Message, error: unknown): void {
    const refusal: Message = { type: 'refusal', id: message.id, error: packError(error) };
    if (message.type === 'ask') this.#receive(refusal);
    else this.#outbox.send(refusal);
  }
}

export function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: null };
  const { code } = error as { code?: unknown };
  return { name: error.name, message: error.message, code: typeof code === 'string' ? code : null };
}
