import type { Socket } from 'node:net';
import type { BufferPool } from './buffer-pool.ts';
import type { RequestBudget } from './request-budget.ts';

/** Replies up to this size are laid side by side before they are sent. */
const SMALL_BYTES = 16 * 1024;

/**
 * Gathers the replies of one turn and hands them to the socket together: many small ones leave in one system call.
 * Replies count in the budget until the client has taken them.
 */
export class ReplyOutput {
  readonly #socket: Socket;
  readonly #budget: RequestBudget;
  readonly #buffers: BufferPool;
  readonly #now: () => number;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #isScheduled = false;
  #unsentSince: number | undefined;

  constructor(socket: Socket, budget: RequestBudget, buffers: BufferPool, now: () => number) {
    this.#socket = socket;
    this.#budget = budget;
    this.#buffers = buffers;
    this.#now = now;
  }

  get unsentBytes(): number {
    return this.#socket.writableLength + this.#queuedBytes;
  }

  /** Since when the client has taken none of the replies that wait for it. */
  get unsentSince(): number | undefined {
    return this.#unsentSince;
  }

  send(reply: Buffer): void {
    this.#queue.push(reply);
    this.#queuedBytes += reply.length;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    const queue = this.#queue;
    const bytes = this.#queuedBytes;
    this.#queue = [];
    this.#queuedBytes = 0;
    if (queue.length === 0 || !this.#socket.writable) return;
    this.#budget.reserve(bytes);
    this.#unsentSince ??= this.#now();
    const pieces = joinSmall(queue);
    const last = pieces.length - 1;
    if (last > 0) this.#socket.cork();
    for (let index = 0; index < last; index++) this.#socket.write(pieces[index] as Buffer);
    this.#socket.write(pieces[last] as Buffer, () => {
      this.#unsentSince = this.#socket.writableLength === 0 ? undefined : this.#now();
      this.#budget.release(bytes);
      for (const reply of queue) this.#buffers.release(reply);
    });
    if (last > 0) this.#socket.uncork();
  }
}

function joinSmall(replies: readonly Buffer[]): Buffer[] {
  if (replies.length === 1) return [...replies];
  const pieces: Buffer[] = [];
  let run: Buffer[] = [];
  for (const reply of replies) {
    if (reply.length <= SMALL_BYTES) {
      run.push(reply);
      continue;
    }
    if (run.length > 0) pieces.push(Buffer.concat(run));
    run = [];
    pieces.push(reply);
  }
  if (run.length > 0) pieces.push(run.length === 1 ? (run[0] as Buffer) : Buffer.concat(run));
  return pieces;
}
