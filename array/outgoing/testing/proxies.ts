import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface TestProxy {
  readonly host: string;
  readonly port: number;
  /** Where it was asked to lead, and by whom. */
  readonly asked: string[];
}

/** An HTTP proxy that knows CONNECT; with credentials, it wants them. */
export async function connectProxy(t: TestContext, credentials?: string): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createHttpServer();
  server.on('connect', (request, socket: Socket) => {
    const given = Buffer.from(
      (request.headers['proxy-authorization'] ?? '').replace('Basic ', ''),
      'base64',
    ).toString();
    asked.push(`${request.url} HTTP/${request.httpVersion} ${given}`.trim());
    if (credentials !== undefined && given !== credentials) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(socket, onward);
    });
    onward.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  });
  return listening(t, server, asked);
}

/** A SOCKS proxy of either version, with a user and a password for version 5. */
export async function socksProxy(t: TestContext, credentials?: string): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (hello) => {
      if (hello[0] === 4) serveVersion4(socket, hello, asked);
      else serveVersion5(socket, credentials, asked);
    });
  });
  return listening(t, server, asked);
}

function serveVersion4(socket: Socket, request: Buffer, asked: string[]): void {
  const port = request.readUInt16BE(2);
  const address = [...request.subarray(4, 8)].join('.');
  const [user = '', name = ''] = request.subarray(8).toString().split('\0');
  const host = address.startsWith('0.0.0.') ? name : address;
  asked.push(`4 ${host}:${port} ${user}`.trim());
  const onward = connect(port, host, () => {
    socket.write(Buffer.of(0, 90, 0, 0, 0, 0, 0, 0));
    join(socket, onward);
  });
  onward.once('error', () => socket.end(Buffer.of(0, 91, 0, 0, 0, 0, 0, 0)));
}

function serveVersion5(socket: Socket, credentials: string | undefined, asked: string[]): void {
  socket.write(Buffer.of(5, credentials === undefined ? 0 : 2));
  const serve = () => {
    socket.once('data', (request) => {
      const isName = request[3] === 3;
      const length = isName ? (request[4] ?? 0) : 4;
      const at = isName ? 5 : 4;
      const host = isName ? request.subarray(at, at + length).toString() : [...request.subarray(at, at + 4)].join('.');
      const port = request.readUInt16BE(at + length);
      asked.push(`5 ${host}:${port}`);
      const onward = connect(port, host, () => {
        socket.write(Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0));
        join(socket, onward);
      });
      onward.once('error', () => socket.end(Buffer.of(5, 5, 0, 1, 0, 0, 0, 0, 0, 0)));
    });
  };
  if (credentials === undefined) {
    serve();
    return;
  }
  socket.once('data', (sent) => {
    const user = sent.subarray(2, 2 + (sent[1] ?? 0)).toString();
    const password = sent.subarray(3 + user.length).toString();
    const isRight = `${user}:${password}` === credentials;
    socket.write(Buffer.of(1, isRight ? 0 : 1));
    if (isRight) serve();
  });
}

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  for (const [socket, far] of [
    [one, other],
    [other, one],
  ] as const) {
    socket.on('error', () => far.destroy());
    socket.on('close', () => far.destroy());
  }
}

async function listening(t: TestContext, server: Server, asked: string[]): Promise<TestProxy> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, asked };
}
