import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { fail } from '../errors.ts';
import type { OutgoingHead } from '../tls/secure-fetch.ts';
import { answeredHeaders } from './headers.ts';

/*
 * One request, passed on and answered as it streams. Neither body is ever held whole: each side is read as fast as the
 * other takes it. When either side goes, the other is dropped: a reply that stops early is cut off, never ended as if it
 * were whole. Nothing is repeated here; the caller does, where `take` turned an answer down and the body is at hand.
 */

export interface RelayLimits {
  /** Without a byte in either direction while bodies are on their way. */
  readonly idleMs: number;
  /** From the last byte of the request to the head of the answer. */
  readonly answerMs: number;
}

export interface Relayed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Where the body was read already; else it is streamed from the request. */
  readonly body?: Buffer | undefined;
  readonly start: (head: Pick<OutgoingHead, 'signal'>) => Promise<ClientRequest>;
  /** Ends it when somebody outside wants so. */
  readonly signal: AbortSignal;
  readonly limits: RelayLimits;
  /** False turns an answer down: nothing of it is passed on. */
  readonly take?: ((answer: IncomingMessage) => boolean) | undefined;
  readonly headersOf?: (answer: IncomingMessage) => OutgoingHttpHeaders;
}

/**
 * Resolves with whether the answer was taken, once it is passed on. Rejects while the response has no head yet, so that
 * the caller can say what went wrong; afterwards a failure cuts the response off.
 */
export async function relay(relayed: Relayed): Promise<boolean> {
  const { request, response, signal, limits, take = () => true } = relayed;
  const ending = new AbortController();
  const watch = new Watch(ending, limits);
  const clientGone = () => ending.abort(new Error('the client closed the connection'));
  const stopped = () => ending.abort(signal.reason);
  response.once('close', clientGone);
  if (signal.aborted || response.destroyed) stopped();
  else signal.addEventListener('abort', stopped, { once: true });
  try {
    ending.signal.throwIfAborted();
    const sent = await relayed.start({ signal: ending.signal });
    const answer = await exchange(sent, relayed, watch);
    if (!take(answer)) {
      answer.destroy();
      return false;
    }
    await passAnswer(answer, relayed, watch);
    return true;
  } catch (error) {
    // What ended it says more than how the connection then failed.
    const cause: unknown = ending.signal.aborted ? ending.signal.reason : error;
    ending.abort(error);
    request.unpipe();
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) throw cause;
    return true;
  } finally {
    watch.stop();
    response.off('close', clientGone);
    signal.removeEventListener('abort', stopped);
  }
}

function exchange(sent: ClientRequest, { request, body }: Relayed, watch: Watch): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Stays registered: the connection may fail after the answer began, and the answer reports that itself.
    sent.on('error', reject);
    if (body || !hasBody(request)) {
      sent.end(body);
      watch.awaitAnswer();
      return;
    }
    request.once('error', (error) => sent.destroy(error));
    request.on('data', () => watch.touch());
    request.once('end', () => watch.awaitAnswer());
    request.pipe(sent);
  });
}

function passAnswer(answer: IncomingMessage, { response, headersOf }: Relayed, watch: Watch): Promise<void> {
  return new Promise((resolve, reject) => {
    response.writeHead(answer.statusCode ?? 502, headersOf?.(answer) ?? answeredHeaders(answer.headers));
    // Events may be a long time coming: who waits for them learns that there is a stream.
    response.flushHeaders();
    watch.touch();
    answer.on('data', () => watch.touch());
    answer.once('error', reject);
    answer.once('aborted', () => reject(new Error('the answer was cut off')));
    response.once('finish', resolve);
    response.once('error', reject);
    response.once('close', () => {
      if (response.writableFinished) resolve();
      else reject(new Error('the client closed the connection'));
    });
    answer.pipe(response);
  });
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads a body that is known to be small, so that its request can be sent again. */
export async function smallBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] !== undefined || length > bytesMax) return undefined;
  if (length === 0) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Ends a relay that stands still. */
class Watch {
  readonly #ending: AbortController;
  readonly #limits: RelayLimits;
  readonly #idle: NodeJS.Timeout;
  #answer: NodeJS.Timeout | undefined;

  constructor(ending: AbortController, limits: RelayLimits) {
    this.#ending = ending;
    this.#limits = limits;
    this.#idle = setTimeout(() => this.#expire(limits.idleMs), limits.idleMs).unref();
  }

  touch(): void {
    clearTimeout(this.#answer);
    this.#idle.refresh();
  }

  /** Work may take long; until it is done there is nothing to pass on. */
  awaitAnswer(): void {
    const { answerMs } = this.#limits;
    clearTimeout(this.#idle);
    this.#answer = setTimeout(() => this.#expire(answerMs), answerMs).unref();
  }

  stop(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#answer);
  }

  #expire(ms: number): void {
    this.#ending.abort(fail('relay_timeout', { seconds: ms / 1000 }));
  }
}
