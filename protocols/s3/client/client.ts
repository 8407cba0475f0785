import { hash } from 'node:crypto';
import {
  Agent,
  request as plainRequest,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import { readXml } from '../xml-reader.ts';
import { chunkedBody, chunkedLength, SIGNED_CHUNKS } from './chunked-body.ts';
import { RequestSigner, type Signed, type SigningIdentity } from './signer.ts';

/** An S3 service somewhere else, and who goes there. Plain data: it crosses threads. */
export interface RemotePlace extends SigningIdentity {
  /** `http(s)://host[:port]`. */
  readonly url: string;
  /** What the host leads to. No name is looked up here: who gives it has checked where connections may go. */
  readonly address: string;
  /** Where connections come from; absent: as the machine routes them. */
  readonly localAddress?: string | undefined;
  /** A certificate (PEM) that is trusted in addition to those of the system. */
  readonly trusted?: string | undefined;
}

/** Bytes that are sent as they are read. */
export interface SentStream {
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface RemoteRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket?: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** By lower-case name; values as they go over the wire. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | SentStream;
  readonly signal?: AbortSignal | undefined;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface FetchedAnswer extends Omit<RemoteAnswer, 'text'> {
  readonly bytes: Buffer;
}

export interface RemoteOptions {
  readonly idleMs?: number;
  /** Opens connections in a way of its own, encrypted ones too: through a proxy, or where only it may go. */
  readonly agent?: Agent;
}

/** The other side answered, and said no. */
export class RemoteRefusal extends Error {
  readonly status: number;
  /** As S3 calls it; empty when the answer did not say. */
  readonly code: string;

  constructor(status: number, code: string) {
    super(code === '' ? `it answered HTTP ${status}` : `it answered ${code} (HTTP ${status})`);
    this.name = 'RemoteRefusal';
    this.status = status;
    this.code = code;
  }
}

/** Without a byte either way for so long, a connection is given up. */
const IDLE_MS_MAX = 30_000;
const ANSWER_BYTES_MAX = 2 ** 20;
/** A caller that expects few bytes also gets the error that says why there are none. */
const REFUSAL_BYTES_MAX = 2 ** 16;
const CONNECTIONS_MAX = 16;

/** Signed requests to one S3 service, in path style, over connections that are kept. */
export class RemoteS3 {
  readonly #place: RemotePlace;
  readonly #url: URL;
  readonly #signer: RequestSigner;
  readonly #agent: Agent;
  readonly #idleMs: number;

  readonly #isEncryptedByAgent: boolean;

  constructor(place: RemotePlace, { idleMs = IDLE_MS_MAX, agent }: RemoteOptions = {}) {
    this.#place = place;
    this.#url = new URL(place.url);
    this.#signer = new RequestSigner(place);
    this.#idleMs = idleMs;
    this.#isEncryptedByAgent = agent !== undefined;
    if (agent) {
      this.#agent = agent;
      return;
    }
    const shared = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
    const ca = place.trusted === undefined ? {} : { ca: [...getCACertificates('default'), place.trusted] };
    this.#agent = this.#isTls ? new TlsAgent({ ...shared, ...ca }) : new Agent(shared);
  }

  /** Requests under way fail. */
  close(): void {
    this.#agent.destroy();
  }

  /** Rejects with a `RemoteRefusal` for every answer that is not a success. Redirections are refusals, too. */
  async send(request: RemoteRequest): Promise<RemoteAnswer> {
    const { bytes, ...answer } = await this.fetch(request, ANSWER_BYTES_MAX);
    return { ...answer, text: bytes.toString() };
  }

  /** With the bytes of the answer, so many at most. */
  async fetch(request: RemoteRequest, bytesMax: number): Promise<FetchedAnswer> {
    const { signed, length } = this.#sign(request);
    const outgoing = this.#open(request, signed, length);
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
      outgoing.once('timeout', () => outgoing.destroy(new Error('it did not answer in time')));
    });
    const { body } = request;
    const source = isStream(body) ? new Source(body.bytes) : undefined;
    const sent = source ? sendStream(outgoing, source, signed) : void outgoing.end(body);
    try {
      const answer = await answered;
      const bytes = await bytesOf(answer, Math.max(bytesMax, REFUSAL_BYTES_MAX));
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 299) throw new RemoteRefusal(status, codeOf(bytes.toString()));
      await sent;
      return { status, headers: answer.headers, bytes };
    } catch (error) {
      outgoing.destroy();
      throw source?.failure ?? error;
    }
  }

  #sign({ method, bucket, key, query = {}, headers = {}, body }: RemoteRequest): { signed: Signed; length: number } {
    const path = bucket === undefined ? '/' : key === undefined ? `/${bucket}` : `/${bucket}/${key}`;
    const stream = isStream(body);
    const length = stream ? chunkedLength(body.size) : (body?.length ?? 0);
    const encoding = [
      ...(stream ? ['aws-chunked'] : []),
      ...(headers['content-encoding'] ? [headers['content-encoding']] : []),
    ];
    const all = {
      ...headers,
      host: this.#url.host,
      ...(encoding.length > 0 && { 'content-encoding': encoding.join(',') }),
      ...(stream && { 'x-amz-decoded-content-length': String(body.size) }),
    };
    const payload = stream ? SIGNED_CHUNKS : hash('sha256', body ?? '');
    return { signed: this.#signer.sign({ method, path, query, headers: all, payload }, Date.now()), length };
  }

  #open({ method, signal }: RemoteRequest, { target, headers }: Signed, length: number): ClientRequest {
    const { hostname, port } = this.#url;
    const name = hostname.replace(/^\[|\]$/g, '');
    const hasBody = method === 'PUT' || method === 'POST';
    const options = {
      agent: this.#agent,
      host: this.#place.address.replace(/^\[|\]$/g, ''),
      port: port === '' ? (this.#isTls ? 443 : 80) : Number(port),
      method,
      path: target,
      headers: { ...headers, ...(hasBody && { 'content-length': length }) },
      timeout: this.#idleMs,
      ...(this.#place.localAddress !== undefined && { localAddress: this.#place.localAddress }),
      ...(signal && { signal }),
    };
    if (!this.#isTls || this.#isEncryptedByAgent) return plainRequest(options);
    return tlsRequest({ ...options, ...(isIP(name) === 0 && { servername: name }) });
  }

  get #isTls(): boolean {
    return this.#url.protocol === 'https:';
  }
}

function isStream(body: RemoteRequest['body']): body is SentStream {
  return body !== undefined && !(body instanceof Uint8Array);
}

/** Bytes that are read somewhere else, with what went wrong there. */
class Source implements AsyncIterable<Uint8Array> {
  readonly #bytes: AsyncIterable<Uint8Array>;
  failure: unknown;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const piece of this.#bytes) yield piece;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

/** Errors here are reported by the request itself; an early reply ends it. */
async function sendStream(outgoing: ClientRequest, source: Source, { chunks }: Signed): Promise<void> {
  const body = Readable.from(chunkedBody(source, chunks), { highWaterMark: 1 });
  await pipeline(body, outgoing).catch((error: unknown) => void outgoing.destroy(error as Error));
}

async function bytesOf(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw new Error('it answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function codeOf(text: string): string {
  try {
    return readXml(text, 'Error').text('Code')?.slice(0, 64) ?? '';
  } catch {
    return '';
  }
}
