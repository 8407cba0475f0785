import type { IncomingMessage } from 'node:http';
import { S3Error } from '../errors.ts';

const IDLE_MS_MAX = 60_000;

/** Where the bytes of a body come from, before any decoding. */
export interface BodySource {
  chunks(): AsyncIterable<Uint8Array>;
  /** Each chunk lasts only until the next is asked for. */
  passing?(): AsyncIterable<Uint8Array>;
}

/** The body of an HTTP request. */
export class IncomingSource implements BodySource {
  readonly #incoming: IncomingMessage;
  readonly #begin: () => void;
  /** Bytes that `whole` has got so far. */
  received = 0;

  /** `begin` is called before the first byte is asked for: the place to say 100 Continue. */
  constructor(incoming: IncomingMessage, begin: () => void) {
    this.#incoming = incoming;
    this.#begin = begin;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    const incoming = this.#incoming;
    this.#begin();
    for (;;) {
      const chunk = incoming.read() as Buffer | null;
      if (chunk !== null) yield chunk;
      else if (incoming.readableEnded) return;
      else await this.#change();
    }
  }

  /**
   * Memory of what was read goes back at once. Left to the garbage collector, a few large bodies would make it look
   * through everything there is.
   */
  async *passing(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of this.chunks()) {
      yield chunk;
      if (chunk.length === chunk.buffer.byteLength && chunk.buffer instanceof ArrayBuffer) chunk.buffer.transfer(0);
    }
  }

  /** All of a small body in one piece: no iterator, and no copy where one packet brought it. */
  whole(size: number): Promise<Uint8Array> {
    const incoming = this.#incoming;
    this.#begin();
    const first = incoming.read() as Buffer | null;
    this.received = first?.length ?? 0;
    if (first && this.received === size) return Promise.resolve(first);
    return this.#collect(size, first ? [first] : []);
  }

  async #collect(size: number, pieces: Buffer[]): Promise<Uint8Array> {
    while (this.received < size) {
      const chunk = this.#incoming.read() as Buffer | null;
      if (chunk) {
        pieces.push(chunk);
        this.received += chunk.length;
      } else if (this.#incoming.readableEnded) {
        throw new S3Error('IncompleteBody');
      } else {
        await this.#change();
      }
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, size);
  }

  /** Until there is more to read, or no more to come. */
  #change(): Promise<void> {
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(new S3Error('RequestTimeout')), IDLE_MS_MAX);
      const more = () => settle();
      const gone = () => settle(incoming.readableEnded ? undefined : new S3Error('IncompleteBody'));
      const settle = (error?: S3Error) => {
        clearTimeout(timer);
        incoming.off('readable', more).off('end', more).off('close', gone).off('error', gone);
        if (error) reject(error);
        else resolve();
      };
      if (incoming.destroyed) gone();
      else incoming.on('readable', more).on('end', more).on('close', gone).on('error', gone);
    });
  }
}
