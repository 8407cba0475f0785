import type { Socket } from 'node:net';

const PAGE_BYTES = 256 * 1024;

/**
 * Gathers what is to be sent and hands it to the socket once per turn, so that the answers to many commands leave in
 * one system call. Small things are laid side by side in a page; large data is sent from where it lies.
 */
export class Output {
  readonly #socket: Socket;
  #page = Buffer.allocUnsafe(PAGE_BYTES);
  /** The page is used up to `#at`; up to `#start` it belongs to the queue or the socket. */
  #start = 0;
  #at = 0;
  #queue: Buffer[] = [];
  #releases: (() => void)[] = [];
  #scheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Where `reserve` makes room. Valid until the next `reserve`. */
  get page(): Buffer {
    return this.#page;
  }

  /** Bytes the socket has not taken. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Makes room for `bytes` at the end of what is to be sent and says where in the page it is. */
  reserve(bytes: number): number {
    if (this.#at + bytes > this.#page.length) {
      this.#closePage();
      this.#page = Buffer.allocUnsafe(Math.max(PAGE_BYTES, bytes));
      this.#start = this.#at = 0;
    }
    const at = this.#at;
    this.#at += bytes;
    this.#schedule();
    return at;
  }

  /** Sends data from where it lies; `release` is called when the socket is done with it. */
  append(data: Buffer, release?: () => void): void {
    this.#closePage();
    this.#queue.push(data);
    if (release !== undefined) this.#releases.push(release);
    this.#schedule();
  }

  flush(): void {
    this.#closePage();
    const queue = this.#queue;
    if (queue.length === 0) return;
    const releases = this.#releases;
    this.#queue = [];
    this.#releases = [];
    this.#write(queue, releases);
    // Taken whole, as it nearly always is: the page is free again, and still warm.
    if (this.#socket.writableLength === 0 && this.#page.length === PAGE_BYTES) this.#start = this.#at = 0;
  }

  #write(queue: readonly Buffer[], releases: readonly (() => void)[]): void {
    const socket = this.#socket;
    const done = releases.length === 0 ? undefined : () => releases.forEach((release) => release());
    if (!socket.writable) {
      done?.();
      return;
    }
    if (queue.length > 1) socket.cork();
    for (let index = 0; index < queue.length - 1; index++) socket.write(queue[index] as Buffer);
    socket.write(queue[queue.length - 1] as Buffer, done);
    if (queue.length > 1) socket.uncork();
  }

  #closePage(): void {
    if (this.#at === this.#start) return;
    this.#queue.push(this.#page.subarray(this.#start, this.#at));
    this.#start = this.#at;
  }

  /** Answers that come outside of what was received wait for those that come in the same turn. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      this.flush();
    });
  }
}
