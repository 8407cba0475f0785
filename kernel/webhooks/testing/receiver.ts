import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

interface PostedEvent {
  readonly id: number | null;
  readonly kind: string;
  readonly severity: number;
  readonly severity_name: string;
  readonly title: string;
}

export interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly webhook: string; readonly skipped: number; readonly event: PostedEvent };
}

interface Receiver {
  readonly url: string;
  readonly posted: readonly Posted[];
  /** How many requests there were, those that were refused included. */
  readonly requests: () => number;
  readonly titles: () => string[];
  /** What it answers from now on. */
  status: number;
}

/** Something on loopback that events are posted to. */
export async function startReceiver(t: Pick<TestContext, 'after'>): Promise<Receiver> {
  const posted: Posted[] = [];
  let requests = 0;
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests += 1;
      const text = Buffer.concat(chunks).toString();
      const { status } = receiver;
      if (status < 300) posted.push({ headers: request.headers, text, body: JSON.parse(text) as Posted['body'] });
      reply.writeHead(status, status >= 300 && status < 400 ? { location: '/elsewhere' } : {}).end('noted');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?token=abc`;
  const receiver: Receiver = {
    url,
    posted,
    requests: () => requests,
    titles: () => posted.map(({ body }) => body.event.title),
    status: 200,
  };
  return receiver;
}

/** As a receiver checks it: the signature fits the body and the time. */
export function isSigned({ headers, text }: Posted, secret: string): boolean {
  const given = /^v1=([0-9a-f]{64})$/.exec(String(headers['granary-signature']))?.[1] ?? '';
  const expected = createHmac('sha256', secret)
    .update(`${String(headers['granary-timestamp'])}.${text}`)
    .digest('hex');
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
