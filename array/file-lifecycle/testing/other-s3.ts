import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Lasting } from '../../testing/test-array.ts';

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly text?: string | Buffer;
}

const REGION = 'eu-west-7';

/**
 * An S3 service that is not ours, with the habits that services have and ours has not: it is in a region of its own and
 * says so, its ETags are no MD5, it does not understand bodies in signed chunks, and refuses to delete what is not there.
 * It checks no signatures. `onRequest` is
 * called before each one is answered.
 */
export async function otherS3(t: Lasting, onRequest: () => void = () => undefined) {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const server = createServer((request, reply) => {
    void bodyOf(request).then((body) => {
      onRequest();
      const { status, headers = {}, text = '' } = replyTo(request, body);
      reply.writeHead(status, { 'x-amz-bucket-region': REGION, ...headers }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(close);

  function replyTo(request: IncomingMessage, body: Buffer): Reply {
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    const key = decodeURIComponent(url.pathname).replace(/^\/archive\/?/, '');
    if (!request.headers.authorization?.includes(`/${REGION}/s3/`)) return { status: 400 };
    if (key === '') return { status: url.pathname === '/archive' ? 200 : 404 };
    const upload = uploads.get(url.searchParams.get('uploadId') ?? '');
    if (request.method === 'POST' && upload) {
      objects.set(key, Buffer.concat([...upload.entries()].sort(([a], [b]) => a - b).map(([, part]) => part)));
      return { status: 200, text: '<CompleteMultipartUploadResult><ETag>"x-1"</ETag></CompleteMultipartUploadResult>' };
    }
    if (request.method === 'POST') {
      const id = randomUUID();
      uploads.set(id, new Map());
      const text = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
      return { status: 200, text };
    }
    if (request.method === 'PUT') {
      if (upload) upload.set(Number(url.searchParams.get('partNumber')), body);
      else objects.set(key, body);
      return { status: 200, headers: { etag: `"v2-${createHash('sha1').update(body).digest('hex')}"` } };
    }
    const object = objects.get(key);
    if (!object) return { status: 404, text: '<Error><Code>NoSuchKey</Code></Error>' };
    if (request.method === 'DELETE') {
      objects.delete(key);
      return { status: 204 };
    }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const part = from === undefined ? object : object.subarray(Number(from), Number(to) + 1);
    const headers = { 'content-length': String(part.length) };
    return { status: from === undefined ? 200 : 206, headers, ...(request.method === 'GET' && { text: part }) };
  }

  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    username: 'OTHERKEY',
    password: 'other secret',
    /** What it looks for in the header `authorization`. */
    scope: `/${REGION}/s3/`,
    close,
    keys: () => Promise.resolve([...objects.keys()]),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}
