import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Documents } from './documents.ts';
import type { S3Error } from './errors.ts';
import type { S3Reply } from './request.ts';
import { errorDocument, field } from './xml.ts';

/** An unread body is drained if it is this small; the connection can be used again. */
const LEFT_BYTES_MAX = 256 * 1024;
/** Else the client may finish sending within these, so that it reads the answer instead of a reset connection. */
const DRAIN_BYTES_MAX = 64 * 2 ** 20;
const DRAIN_MS_MAX = 10_000;

/** The answer to what was refused. */
export function errorReply(error: S3Error, resource: string, requestId: string, hostId: string): S3Reply {
  const details = Object.entries(error.details).map(([name, value]) => field(name, value));
  const body = errorDocument(
    field('Code', error.code) +
      field('Message', error.message) +
      details.join('') +
      field('Resource', resource) +
      field('RequestId', requestId) +
      field('HostId', hostId),
  );
  return { status: error.status, headers: error.headers, body };
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 304;
}

function isDocument(body: S3Reply['body']): body is string | readonly string[] {
  return typeof body === 'string' || Array.isArray(body);
}

/** Sends replies, counting the object data that really went out. */
export class ReplyWriter {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #documents: Documents;
  #flushed = 0;
  #documentBytes = 0;
  #startedAt = 0;

  constructor(incoming: IncomingMessage, response: ServerResponse, documents: Documents) {
    this.#incoming = incoming;
    this.#response = response;
    this.#documents = documents;
  }

  /** Bytes of object data. */
  get sent(): number {
    return this.#flushed;
  }

  /** Bytes of the body, documents among them. */
  get bodyBytes(): number {
    return this.#flushed + this.#documentBytes;
  }

  /** When the first byte went, by the clock that does not jump; 0 before. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** The client waits for 100 Continue. Node sends it by itself where the server has no `checkContinue`. */
  get awaitsContinue(): boolean {
    return (
      this.#incoming.headers.expect?.toLowerCase() === '100-continue' &&
      (this.#response as { readonly _sent100?: boolean })._sent100 !== true
    );
  }

  async send(reply: S3Reply, common: OutgoingHttpHeaders): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return;
    const left = this.#unread();
    const document = isDocument(reply.body) ? this.#documents.write(reply.body) : undefined;
    const body = isDocument(reply.body) ? document?.bytes : reply.body;
    const headers: OutgoingHttpHeaders = { ...common, ...reply.headers };
    if (document) headers['content-type'] ??= 'application/xml';
    if (body instanceof Uint8Array) headers['content-length'] = body.length;
    else if (body === undefined && hasBody(reply.status)) headers['content-length'] ??= 0;
    const lingers = left > LEFT_BYTES_MAX && !this.awaitsContinue;
    if (lingers || (left > 0 && this.awaitsContinue)) {
      headers.connection = 'close';
      delete headers['keep-alive'];
    }
    response.writeHead(reply.status, headers);
    this.#startedAt = performance.now();
    const sent = this.#incoming.method === 'HEAD' ? undefined : body;
    if (document && sent !== undefined) this.#documentBytes = document.bytes.length;
    if (!lingers && !this.#incoming.readableEnded) this.#incoming.resume();
    if (sent !== undefined && !(sent instanceof Uint8Array)) {
      await this.#stream(sent);
      response.end();
    } else if (lingers) {
      await this.#linger(sent, document !== undefined);
    } else {
      response.end(sent, () => {
        if (document) document.release();
        else this.#flushed += sent?.length ?? 0;
      });
    }
  }

  /** At most so many bytes of the request are still to come. */
  #unread(): number {
    const { headers, complete } = this.#incoming;
    if (complete) return 0;
    return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  }

  #write(bytes: Uint8Array, isDocument = false): boolean {
    return this.#response.write(bytes, (error) => {
      if (!error && !isDocument) this.#flushed += bytes.length;
    });
  }

  /** The reply is sent before the end is reported, which closes the connection. */
  async #linger(body: Uint8Array | undefined, isDocument: boolean): Promise<void> {
    if (body) this.#write(body, isDocument);
    else this.#response.flushHeaders();
    await this.#drain();
    this.#response.end();
  }

  async #stream(body: AsyncIterable<Uint8Array>): Promise<void> {
    const response = this.#response;
    for await (const bytes of body) {
      if (response.destroyed) return;
      if (bytes.length > 0 && !this.#write(bytes)) await this.#writable();
    }
  }

  /** Until the client took what was written, or is gone. */
  async #writable(): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return;
    const waiting = new AbortController();
    const { signal } = waiting;
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).finally(() =>
      waiting.abort(),
    );
  }

  #drain(): Promise<void> {
    const incoming = this.#incoming;
    return new Promise((resolve) => {
      let left = DRAIN_BYTES_MAX;
      const timer = setTimeout(finish, DRAIN_MS_MAX);
      function finish(): void {
        clearTimeout(timer);
        incoming.off('data', count).off('end', finish).off('close', finish).off('error', finish);
        resolve();
      }
      function count(bytes: Buffer): void {
        left -= bytes.length;
        if (left < 0) finish();
      }
      incoming.on('data', count).on('end', finish).on('close', finish).on('error', finish);
    });
  }
}
