import { Agent, request, type IncomingHttpHeaders } from 'node:http';

/** A request as it goes over the wire. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text or bytes. */
  readonly body?: unknown;
  /** The source address; clients that guess keys are blocked by theirs. */
  readonly from?: string;
}

export interface Received {
  readonly http: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Send = (sent: Sent) => Promise<Received>;

const ANSWER_MS_MAX = 30_000;

/** Over a real socket, with bodies on every verb: neither `fetch` nor an injected request can send these. */
export function wireTo(url: string, after: (close: () => void) => void): Send {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  after(() => agent.destroy());
  return ({ method, path, headers, body, from }) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from((body ?? '') as string | Buffer);
      const length = body === undefined ? {} : { 'content-length': bytes.length };
      const place = { agent, hostname, port, ...(from !== undefined && { localAddress: from }) };
      const sent = request({ ...place, method, path, timeout: ANSWER_MS_MAX, headers: { ...headers, ...length } });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)));
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            http: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        });
      });
      sent.end(bytes);
    });
}
