import type { Agent, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { http } from '@granary/kernel';
import { openLink, type Route } from './link.ts';

export interface HttpRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const ANSWER_BYTES_MAX = 2 ** 20;
const CONNECTIONS_MAX = 16;

/** Requests along one route, over connections that are kept. */
export class HttpClient {
  readonly route: Route;
  readonly #agent: Agent;

  constructor(route: Route) {
    this.route = route;
    this.#agent = new RoutedAgent(route);
  }

  /** Who it is that listens, for messages. */
  get address(): string {
    const { host, port } = this.route;
    return `${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  async send({ method, path, headers, body, timeoutMs, signal }: HttpRequest): Promise<HttpAnswer> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const sent = http.request({
      agent: this.#agent,
      method,
      path,
      headers: {
        host: this.address,
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve);
        // Stays attached: errors after the answer began are reported by the answer's stream.
        sent.on('error', reject);
        sent.end(body);
      });
      return { status: response.statusCode ?? 0, headers: response.headers, body: await bodyOf(response) };
    } catch (error) {
      sent.destroy();
      throw timeout.aborted ? new Error('it did not answer in time', { cause: error }) : error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Opens connections along one route, encrypted ones included: requests made with it are plain ones. */
export class RoutedAgent extends http.Agent {
  readonly #route: Route;

  constructor(route: Route) {
    super({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
    this.#route = route;
  }

  override createConnection(_: unknown, callback?: (error: Error | null, stream: Duplex) => void): undefined {
    openLink(this.#route).then(
      (socket) => callback?.(null, socket),
      (error: unknown) => callback?.(error as Error, undefined as never),
    );
  }
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw new Error('it answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
