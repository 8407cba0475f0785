import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { markSignedIn } from '@granary/kernel/edge';
import type { Bucket } from '@granary/storage/object-store';
import { KEEP_ALIVE } from '../../objects/keep-alive.ts';
import { BrokenManifestError } from '../../objects/static-large-object.ts';
import type { Caller, DataContext, RequestClass, RequestRecord } from '../../objects/context.ts';
import { corsHeaders } from '../containers/cors.ts';
import { SwiftRequestBody } from './body.ts';
import { CLIENT_GONE, isOurFault, SwiftRefusal, refusalDocument, refusalOf, statusText } from './refusal.ts';
import type { SwiftReply } from './request.ts';

type Subject = RequestRecord['subject'];

/** As Swift calls them. */
const SUBJECTS = { account: 'account', bucket: 'container', object: 'object' } as const;

const CLASSES: Readonly<Record<string, RequestClass>> = {
  GET: 'get',
  HEAD: 'get',
  PUT: 'put',
  POST: 'put',
  COPY: 'put',
  DELETE: 'delete',
};

const IDLE_MILLISECONDS = 60_000;

/** As Swift writes it: 21 hex digits at random, and the time. */
function transactionId(now: number): string {
  const time = Math.floor(now / 1000);
  return `tx${randomBytes(11).toString('hex').slice(0, 21)}-${time.toString(16).padStart(10, '0')}`;
}

/** One request and its answer, with what the records want to know of it. */
export class Exchange {
  readonly context: DataContext;
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly body: SwiftRequestBody;
  readonly transaction: string;
  readonly method: string;
  readonly ip: string;
  readonly now: number;
  readonly #begun = performance.now();
  #subject: Subject = 'service';
  #account: string | null = null;
  #caller: Caller | null = null;
  #bucketName: string | null = null;
  #bucket: Bucket | null = null;
  #key: string | null = null;
  #isMetered = false;
  #bytesOut = 0;
  #bytesDeleted = 0;

  constructor(context: DataContext, request: IncomingMessage, response: ServerResponse) {
    this.context = context;
    this.request = request;
    this.#response = response;
    this.body = new SwiftRequestBody(request, response);
    this.method = request.method ?? 'GET';
    this.ip = request.socket.remoteAddress ?? '';
    this.now = context.now();
    this.transaction = transactionId(this.now);
    response.once('close', () => {
      context.done(this.#record());
    });
    // Work of our own may take its time; a client that neither sends nor reads may not.
    response.setTimeout(IDLE_MILLISECONDS, () => {
      if (response.writableLength > 0 || this.body.isPending) request.socket.destroy();
    });
    // Reported by the body's reader and by `close`; without a listener it would end the process.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
  }

  aims(subject: Subject, container?: string, object?: string): void {
    this.#subject = subject;
    this.#bucketName = container ?? null;
    this.#key = object ?? null;
  }

  knowsAccount(account: string): void {
    this.#account = account;
  }

  knowsCaller(caller: Caller | null): void {
    this.#caller = caller;
    if (caller !== null) markSignedIn(this.request.socket);
  }

  concerns(bucket: Bucket): void {
    this.#bucket = bucket;
  }

  meterBody(): void {
    this.#isMetered = true;
  }

  #record(): RequestRecord {
    const response = this.#response;
    const unsent = response.writableFinished ? 0 : response.writableLength;
    return {
      requestId: this.transaction,
      protocol: 'swift',
      action: this.#subject === 'service' ? this.method : `${this.method} ${SUBJECTS[this.#subject]}`,
      class: this.#subject === 'service' ? 'other' : (CLASSES[this.method] ?? 'other'),
      subject: this.#subject,
      account: this.#account,
      user: this.#caller?.user ?? null,
      username: this.#caller?.username ?? null,
      policy: this.#bucket?.policy ?? null,
      bucket: this.#bucketName,
      key: this.#key,
      status: response.headersSent ? response.statusCode : CLIENT_GONE,
      bytesIn: this.#isMetered ? this.body.received : 0,
      bytesOut: Math.max(0, this.#bytesOut - unsent),
      bytesDeleted: this.#bytesDeleted,
      milliseconds: performance.now() - this.#begun,
      at: this.now,
      ip: this.ip,
    };
  }

  /** What a thrown error is answered with. */
  #refusalReply(error: unknown): SwiftReply {
    const refusal =
      error instanceof BrokenManifestError ? new SwiftRefusal(409, `Conflict: ${error.message}.`) : refusalOf(error);
    if (refusal === undefined || isOurFault(error)) this.context.onError(error, this.transaction);
    const shown = refusal ?? new SwiftRefusal(500, 'Something went wrong on our side. Please try again.');
    const { type, body } = refusalDocument(shown);
    return { status: shown.status, headers: { 'Content-Type': type, ...shown.headers }, body };
  }

  async answerWith(make: () => Promise<SwiftReply>): Promise<void> {
    let reply: SwiftReply;
    let iterator: AsyncIterator<Uint8Array> | undefined;
    let first: IteratorResult<Uint8Array, unknown> | undefined;
    try {
      reply = await make();
      if (reply.body !== undefined && typeof reply.body === 'object' && !(reply.body instanceof Uint8Array)) {
        // Whatever is wrong shows at the first bytes, while there still is an answer to choose.
        iterator = reply.body[Symbol.asyncIterator]();
        first = await iterator.next();
      }
    } catch (error) {
      iterator = undefined;
      reply = this.#refusalReply(error);
    }
    if (this.#response.destroyed) return;
    this.#bytesDeleted = reply.bytesDeleted ?? 0;
    if (iterator === undefined || first === undefined) this.#send(reply);
    else await this.#stream(reply, iterator, first);
  }

  #writeHead(reply: SwiftReply, extra: OutgoingHttpHeaders): void {
    const origin = this.request.headers.origin;
    const headers = {
      'X-Trans-Id': this.transaction,
      'X-Openstack-Request-Id': this.transaction,
      ...reply.headers,
      ...extra,
    };
    const cors = this.#bucket === null || origin === undefined ? {} : corsHeaders(this.#bucket, origin, headers);
    const stays = this.#response.shouldKeepAlive && extra.Connection === undefined;
    const keeping = stays ? { 'Keep-Alive': KEEP_ALIVE } : {};
    this.#response.writeHead(reply.status, statusText(reply.status), { ...headers, ...cors, ...keeping });
  }

  #send(reply: SwiftReply): void {
    const { body } = reply;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const content = bytes instanceof Uint8Array ? bytes : new Uint8Array(0);
    const hasNone = reply.status === 204 || reply.status === 304;
    // A length of nothing is what Swift's own clients and tests read of containers and accounts.
    const hasLength = reply.status === 304 || reply.headers?.['Content-Length'] !== undefined;
    const isSent = !hasNone && this.method !== 'HEAD' && content.length > 0;
    if (isSent && typeof body !== 'string') this.#bytesOut = content.length;
    const length: OutgoingHttpHeaders = hasLength ? {} : { 'Content-Length': hasNone ? 0 : content.length };
    if (this.body.isPending) {
      this.#sendEarly(reply, length, isSent ? content : undefined);
      return;
    }
    this.#writeHead(reply, length);
    if (isSent) this.#response.end(content);
    else this.#response.end();
  }

  /** The answer is clear before the body has come: the client gets it whole, and then some time to notice. */
  #sendEarly(reply: SwiftReply, length: OutgoingHttpHeaders, content: Uint8Array | undefined): void {
    const response = this.#response;
    const closes = this.body.isUnwanted || !this.body.isShort;
    this.#writeHead(reply, closes ? { ...length, Connection: 'close' } : length);
    if (this.body.isUnwanted) {
      response.end(content);
      return;
    }
    if (content === undefined) response.flushHeaders();
    else response.write(content);
    this.body.drain(() => {
      response.end();
      if (!this.request.complete) this.request.socket.destroySoon();
    });
  }

  async #stream(
    reply: SwiftReply,
    iterator: AsyncIterator<Uint8Array>,
    first: IteratorResult<Uint8Array, unknown>,
  ): Promise<void> {
    const response = this.#response;
    this.#writeHead(reply, {});
    try {
      for (let next = first; next.done !== true; next = await iterator.next()) {
        this.#bytesOut += next.value.length;
        if (!response.write(next.value)) await drained(response);
        if (response.destroyed) break;
      }
      if (!response.destroyed) response.end();
    } catch (error) {
      // The length has been sent: only a cut connection says that this is not all. The bytes before are sent.
      this.context.onError(error, this.transaction);
      this.request.socket.destroySoon();
    } finally {
      await iterator.return?.();
    }
  }
}

/** Until the buffer has room again, or the client is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function done(): void {
      response.off('drain', done).off('close', done);
      resolve();
    }
    response.once('drain', done).once('close', done);
  });
}
