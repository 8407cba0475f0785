import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLIENT_GONE, SwiftRefusal } from './refusal.ts';

/** What a refused client may still send before the connection is cut. */
const DRAIN_BYTES = 4 * 1024 * 1024;
const DRAIN_MILLISECONDS = 5000;

function clientGone(): SwiftRefusal {
  return new SwiftRefusal(CLIENT_GONE, 'The client went away.');
}

/** The body of a request. It can be read once; a client that waits for `100 Continue` gets it when reading begins. */
export class SwiftRequestBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** As announced; undefined for chunked bodies. */
  readonly length: number | undefined;
  readonly chunked: boolean;
  #begun = false;
  #received = 0;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    const length = request.headers['content-length'];
    this.length = length === undefined ? undefined : Number(length);
    this.chunked = request.headers['transfer-encoding'] !== undefined;
  }

  /** Bytes read so far. */
  get received(): number {
    return this.#received;
  }

  /** The whole of it; 413 beyond `limit`. */
  whole(limit: number, tooLarge = 'Your request is too large.'): Promise<Buffer> {
    if (this.length !== undefined && this.length > limit) throw new SwiftRefusal(413, tooLarge);
    this.#begin();
    if (this.length === 0 && !this.chunked) return Promise.resolve(Buffer.alloc(0));
    if (this.#request.destroyed) throw clientGone();
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const request = this.#request;
      request.on('data', (chunk: Buffer) => {
        this.#received += chunk.length;
        if (this.#received > limit) {
          request.pause();
          reject(new SwiftRefusal(413, tooLarge));
        } else chunks.push(chunk);
      });
      request.once('end', () => {
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      });
      const gone = () => {
        reject(clientGone());
      };
      request.once('error', gone);
      request.once('close', gone);
    });
  }

  /** Piece by piece; 413 as soon as more than `limit` bytes have come. */
  async *stream(limit: number, tooLarge = 'Your request is too large.'): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.length !== undefined && this.length > limit) throw new SwiftRefusal(413, tooLarge);
    this.#begin();
    if (this.length === 0 && !this.chunked) return;
    try {
      // The connection must live on for the answer when the reader stops early.
      for await (const chunk of this.#request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#received += chunk.length;
        if (this.#received > limit) throw new SwiftRefusal(413, tooLarge);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof SwiftRefusal || !this.#request.destroyed ? error : clientGone();
    }
    if (!this.#request.complete) throw clientGone();
  }

  #begin(): void {
    this.#begun = true;
    if (this.waits) this.#response.writeContinue();
  }

  /** The client waits for 100 Continue. Node sends it by itself where the server has no `checkContinue`. */
  get waits(): boolean {
    return (
      this.#request.headers.expect?.toLowerCase() === '100-continue' &&
      (this.#response as { readonly _sent100?: boolean })._sent100 !== true
    );
  }

  /** Whether bytes of it are still to come. */
  get isPending(): boolean {
    if (this.#request.complete) return false;
    return this.chunked || (this.length ?? 0) > this.#received;
  }

  /** So little is still to come that it is worth waiting for. */
  get isShort(): boolean {
    return this.length !== undefined && this.length - this.#received <= DRAIN_BYTES;
  }

  /** The body is not wanted: a client that waits for 100 Continue must not take the reply for it. */
  get isUnwanted(): boolean {
    return !this.#begun && this.waits;
  }

  /** Lets a refused client finish, within limits, so that it reads the answer instead of a reset connection. */
  drain(done: () => void): void {
    const request = this.#request;
    let left = DRAIN_BYTES;
    const timer = setTimeout(finish, DRAIN_MILLISECONDS);
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish);
      done();
    }
    function count(chunk: Buffer): void {
      left -= chunk.length;
      if (left < 0) finish();
    }
    // A reader that gave up in the middle still listens, and nothing would flow.
    request.removeAllListeners('readable');
    request.on('data', count).once('end', finish).once('close', finish);
    request.resume();
  }
}
