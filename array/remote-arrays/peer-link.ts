import {
  errorCatalogue,
  pathParams,
  type Endpoint,
  type ErrorName,
  type OutputOf,
  type RecordReply,
  type SentTo,
} from '@granary/contract';
import { connectionReason, fail, GranaryError, isReply } from '@granary/kernel';
import { HttpClient, type HttpAnswer } from '../outgoing/http.ts';
import type { Route } from '../outgoing/link.ts';
import type { PairKeys } from './pair-keys.ts';

export interface CallOptions {
  /** The body; the other parameters travel in the query then. */
  readonly octets?: Uint8Array;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const CALL_MS_MAX = 15_000;

/** Where entries share a code, the first is the general one: it comes last here, and stays. */
const entriesByCode = new Map<number, ErrorName>(
  Object.entries(errorCatalogue)
    .reverse()
    .map(([entry, { code }]) => [code, entry as ErrorName]),
);
/** Answers that mean: not now. */
const PASSING = new Set<ErrorName>(['internal', 'stopping', 'disk_full', 'not_durable', 'not_served', 'unknown_path']);

/** The remote array understood and said no. Its words and its code are passed on. */
export class PeerRefusal extends GranaryError {
  constructor(entry: ErrorName, message: string) {
    super(entry, `The remote array says: ${message}`);
    this.name = 'RemoteRefusal';
  }
}

/** Calls what other arrays declare for their peers. */
export class PeerLink {
  readonly #keys: PairKeys | undefined;
  readonly #http: HttpClient;

  /** Without keys, only what anyone may call answers. */
  constructor(route: Route, keys?: PairKeys) {
    this.#keys = keys;
    this.#http = new HttpClient(route);
  }

  get address(): string {
    return this.#http.address;
  }

  /** For the other end alone. */
  seal(plain: Uint8Array, about: string): Buffer {
    if (!this.#keys) throw new Error('Nothing was agreed on with the other end.');
    return this.#keys.seal(plain, about);
  }

  close(): void {
    this.#http.close();
  }

  /** Throws `RemoteRefusal` when it was refused, `remote_unreachable` when there was no such answer. */
  async call<E extends Endpoint>(
    endpoint: E,
    input: Omit<SentTo<E>, 'octets'>,
    options: CallOptions = {},
  ): Promise<OutputOf<E>> {
    const answer = await this.#send(endpoint, input, options);
    const body = parsed(answer);
    if (isReply(endpoint.reply as RecordReply, body)) return (body as { response: OutputOf<E> }).response;
    const { status, message } =
      (body as { response?: { status?: unknown; message?: unknown } } | undefined)?.response ?? {};
    const entry = entriesByCode.get(Number(status));
    if (entry === 'invalid_credentials' && this.#keys) throw this.#unreachable('it does not know this array any more');
    if (entry === undefined || typeof message !== 'string' || PASSING.has(entry))
      throw this.#unreachable(`it is no array that takes mirrors, or not ready (HTTP ${answer.status})`);
    throw new PeerRefusal(entry, message.slice(0, 500));
  }

  async #send(endpoint: Endpoint, input: object, options: CallOptions): Promise<HttpAnswer> {
    const { path, rest } = addressOf(endpoint, input);
    const isQuery = endpoint.method === 'GET' || endpoint.method === 'DELETE' || options.octets !== undefined;
    const query = isQuery ? `?${new URLSearchParams(rest).toString()}` : '';
    try {
      return await this.#http.send({
        method: endpoint.method,
        path: `/api${path}${query}`,
        headers: {
          accept: 'application/json',
          ...(this.#keys && { 'x-access-key': this.#keys.accessKey }),
          ...(options.octets && { 'content-type': 'application/octet-stream' }),
          ...(!isQuery && { 'content-type': 'application/json' }),
        },
        body: options.octets ?? (isQuery ? undefined : JSON.stringify(Object.fromEntries(rest))),
        timeoutMs: options.timeoutMs ?? CALL_MS_MAX,
        signal: options.signal,
      });
    } catch (error) {
      if (error instanceof GranaryError || options.signal?.aborted) throw error;
      throw this.#unreachable(connectionReason(error));
    }
  }

  #unreachable(reason: string): GranaryError {
    return fail('remote_unreachable', { address: this.address, reason });
  }
}

function addressOf(endpoint: Endpoint, input: object): { path: string; rest: [string, string][] } {
  const values = Object.entries(input as Record<string, string | number | boolean | undefined>);
  const texts = new Map(values.filter(([, value]) => value !== undefined).map(([key, value]) => [key, String(value)]));
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, key: string) => encodeURIComponent(texts.get(key) ?? ''));
  for (const key of pathParams(endpoint.path)) texts.delete(key);
  return { path, rest: [...texts] };
}

function parsed({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
