import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

/** A request as it came over the wire. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface Canned {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A service that answers as the test says and records requests; closed after the test. */
export async function cannedService(
  t: TestContext,
  answer: (seen: Seen) => Canned,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
      const one = { method: request.method ?? '', path, query, headers: request.headers, body };
      seen.push(one);
      const { status = 200, headers = {}, body: reply } = answer(one);
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(reply);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
