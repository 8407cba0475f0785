import assert from 'node:assert/strict';
import {
  pathParams,
  replySchema,
  type Api,
  type Endpoint,
  type OutputOf,
  type RecordReply,
  type SentTo,
} from '@granary/contract';
import { Value } from 'typebox/value';
import { isDeclared } from './declared.ts';

/** Fifty concurrent password hashes take long, more so on a machine that is suspended in between. */
const ANSWER_MS_MAX = 120_000;

export interface Failure {
  readonly http: number;
  readonly code: number | string;
  readonly message: string;
  readonly headers: Headers;
}

type Body = Record<string, unknown>;

/** Calls endpoints of an API, and checks every reply against its schema and every error against those it declares. */
export class CheckedClient<P extends Api> {
  readonly #api: P;
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(api: P, url: string, headers: Record<string, string> = {}) {
    this.#api = api;
    this.#url = url;
    this.#headers = headers;
  }

  with(headers: Record<string, string>): CheckedClient<P> {
    return new CheckedClient(this.#api, this.#url, { ...this.#headers, ...headers });
  }

  async call<E extends Endpoint>(endpoint: E, input: SentTo<E>): Promise<OutputOf<E>> {
    const { response, body } = await this.#send(endpoint, input);
    const { wrapper, constants } = endpoint.reply as RecordReply;
    const inner = wrapper === undefined ? body : (body[wrapper] as Body | undefined);
    for (const [key, value] of Object.entries(constants)) {
      assert.equal(
        inner?.[key],
        value,
        `${endpoint.method} ${endpoint.path}: ${response.status} ${JSON.stringify(body)}`,
      );
    }
    const problems = Value.Errors(replySchema(endpoint.reply as RecordReply), body);
    assert.deepEqual(problems, [], `${endpoint.path} does not keep to its schema`);
    return inner as OutputOf<E>;
  }

  /** For a call that must be refused. */
  async refused<E extends Endpoint>(endpoint: E, input: SentTo<E>): Promise<Failure> {
    const { response, body } = await this.#send(endpoint, input);
    const inner = (body['response'] ?? body) as Body;
    assert.ok(inner['status'] !== 0 && inner['status'] !== 'success', `${endpoint.path} was not refused`);
    const code = inner['status'] as number | string;
    if (typeof code === 'number')
      assert.ok(isDeclared(endpoint, code), `${endpoint.method} ${endpoint.path} does not declare error ${code}`);
    return {
      http: response.status,
      code,
      message: String(inner['message']),
      headers: response.headers,
    };
  }

  async #send(endpoint: Endpoint, input: object): Promise<{ response: Response; body: Body }> {
    const values = new Map(Object.entries(input));
    const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(textOf(values.get(name))),
    );
    for (const name of pathParams(endpoint.path)) values.delete(name);
    const hasBody = endpoint.method !== 'GET' && endpoint.method !== 'DELETE';
    const query = new URLSearchParams();
    for (const [name, value] of values) query.set(name, textOf(value));
    const response = await fetch(`${this.#url}/api${path}${hasBody ? '' : `?${query.toString()}`}`, {
      method: endpoint.method,
      headers: { ...this.#headers, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(Object.fromEntries(values)) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { response, body: (await response.json()) as Body };
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
