import type { IncomingMessage } from 'node:http';
import { S3Error } from '../errors.ts';
import { idleWatch } from './idle-watch.ts';

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

  /** All of a small body in one piece: as it comes, without an iterator, and no copy where one packet brought it. */
  whole(size: number): Promise<Uint8Array> {
    const incoming = this.#incoming;
    this.#begin();
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      const waiting = idleWatch.begin(() => settle(new S3Error('RequestTimeout')));
      const receive = (piece: Buffer) => {
        pieces.push(piece);
        this.received += piece.length;
        if (this.received >= size) settle();
        else idleWatch.refresh(waiting);
      };
      const gone = () => settle(new S3Error('IncompleteBody'));
      const settle = (error?: S3Error) => {
        idleWatch.end(waiting);
        incoming.off('data', receive).off('end', gone).off('close', gone).off('error', gone);
        if (error) reject(error);
        else resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, size));
      };
      if (incoming.destroyed || incoming.readableEnded) gone();
      else incoming.on('data', receive).on('end', gone).on('close', gone).on('error', gone);
    });
  }

  /** Until there is more to read, or no more to come. */
  #change(): Promise<void> {
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      const waiting = idleWatch.begin(() => settle(new S3Error('RequestTimeout')));
      const more = () => settle();
      const gone = () => settle(incoming.readableEnded ? undefined : new S3Error('IncompleteBody'));
      const settle = (error?: S3Error) => {
        idleWatch.end(waiting);
        incoming.off('readable', more).off('end', more).off('close', gone).off('error', gone);
        if (error) reject(error);
        else resolve();
      };
      if (incoming.destroyed) gone();
      else incoming.on('readable', more).on('end', more).on('close', gone).on('error', gone);
    });
  }
}
