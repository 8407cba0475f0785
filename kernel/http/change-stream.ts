import { Readable } from 'node:stream';
import type { Actor } from './types.ts';

const BEAT_MS = 15_000;
/** What a client may leave unread before it is dropped. */
const UNREAD_BYTES_MAX = 64 * 1024;
/** A caller without a session is authenticated again at intervals. */
const BEATS_PER_CHECK = 4;

export interface ChangeStreamOptions {
  readonly actor: Actor;
  /** Of the caller's own: whether the credentials are still good. Asked where no session ends the stream. */
  readonly isSignedIn?: (() => Promise<boolean>) | undefined;
  readonly seconds?: number | undefined;
  readonly unreadBytesMax?: number | undefined;
}

/**
 * One client that follows changes, as server-sent events. Nothing is kept for a client that does not read: its
 * connection is closed, and when it comes back it reads anew what it shows.
 */
export class ChangeStream extends Readable {
  readonly actor: Actor;
  readonly #isSignedIn: (() => Promise<boolean>) | undefined;
  readonly #beat: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout | undefined;
  #beats = 0;
  #hasEnded = false;

  constructor({ actor, isSignedIn, seconds, unreadBytesMax = UNREAD_BYTES_MAX }: ChangeStreamOptions) {
    super({ highWaterMark: unreadBytesMax });
    this.actor = actor;
    this.#isSignedIn = actor.sessionId === undefined ? isSignedIn : undefined;
    this.#beat = setInterval(() => this.#onBeat(), BEAT_MS).unref();
    if (seconds !== undefined && seconds > 0) this.#end = setTimeout(() => this.end(), seconds * 1_000).unref();
    // At once, so that the client has the head of the reply.
    this.#write(': changes follow\n\n');
    if (seconds === 0) this.end();
  }

  send(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  signOut(): void {
    this.send('signed_out', {});
    this.end();
  }

  end(): void {
    if (this.#hasEnded || this.destroyed) return;
    this.#hasEnded = true;
    this.#stopTimers();
    // What a client does not read holds nothing up.
    if (this.readableLength > 0 && this.readableFlowing === false) this.destroy();
    else this.push(null);
  }

  override _read(): void {
    // Written as it happens, not when it is asked for.
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stopTimers();
    done(error);
  }

  #write(text: string): void {
    if (this.#hasEnded || this.destroyed) return;
    if (this.push(text)) return;
    this.#hasEnded = true;
    this.destroy();
  }

  #onBeat(): void {
    this.#write(': here\n\n');
    this.#beats += 1;
    if (this.#isSignedIn && this.#beats % BEATS_PER_CHECK === 0) void this.#check(this.#isSignedIn);
  }

  async #check(isSignedIn: () => Promise<boolean>): Promise<void> {
    if (!(await isSignedIn().catch(() => false))) this.signOut();
  }

  #stopTimers(): void {
    clearInterval(this.#beat);
    clearTimeout(this.#end);
  }
}
