import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { TestContext } from 'node:test';

/** What a peer does with a connection. The client must fail with an error message, and keep running. */
type Hostility = (socket: Socket) => void;

const GARBAGE = Buffer.from(Array.from({ length: 512 }, (_, at) => (at * 151 + 7) % 256));
const ERROR_PAGE = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 7\r\n\r\n<html/>';

const asked =
  (act: Hostility): Hostility =>
  (socket) =>
    socket.once('data', () => act(socket));
const saying = (text: string | Buffer, then: Hostility = () => undefined) =>
  asked((socket) => void socket.write(text, () => then(socket)));
const reset: Hostility = (socket) => void socket.resetAndDestroy();
const end: Hostility = (socket) => void socket.end();

export const hostilities: Readonly<Record<string, Hostility>> = {
  'hangs up at once': end,
  'resets at once': reset,
  'hangs up when it is asked': asked(end),
  'resets when it is asked': asked(reset),
  'speaks first, and garbage': (socket) => void socket.write(GARBAGE),
  'answers garbage': saying(GARBAGE),
  'answers garbage and hangs up': saying(GARBAGE, end),
  'answers garbage and resets': saying(GARBAGE, reset),
  'answers an error page in one write': saying(ERROR_PAGE),
  'answers an error page and resets': saying(ERROR_PAGE, reset),
  'answers half a status line and resets': saying('HTTP/1.1 20', reset),
  'answers half a head and hangs up': saying('HTTP/1.1 200 OK\r\nContent-Le', end),
  'answers half a head and resets': saying('HTTP/1.1 200 OK\r\nContent-Le', reset),
  'answers half a body and hangs up': saying('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', end),
  'answers half a body and resets': saying('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', reset),
  'answers a broken chunk': saying('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
  'answers twice': saying(
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    end,
  ),
  'answers a head without end': saying(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(20_000)}`),
  'greets as a mail server and resets': (socket) => void socket.write('220 here\r\n', () => asked(reset)(socket)),
  'greets as a mail server, then garbage': (socket) => void socket.write('220 here\r\n', () => saying(GARBAGE)(socket)),
  'answers SOCKS 5 with no method, twice': saying(Buffer.of(5, 255, 5, 255)),
  'answers SOCKS 5 with a method, then resets': saying(Buffer.of(5, 0), asked(reset)),
  'answers SOCKS 5 with half a reply': saying(Buffer.of(5, 0), saying(Buffer.of(5, 0, 0, 1, 127), end)),
  'answers SOCKS 4 with a refusal and more': saying(Buffer.of(0, 91, 0, 0, 0, 0, 0, 0, 1, 2, 3)),
  'says nothing': () => undefined,
};

export async function hostilePeer(t: TestContext, hostility: Hostility): Promise<{ host: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
    hostility(socket);
  }).listen(0, '127.0.0.1');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

/** The outcome of a call, in words; no late error is left that could end the process. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    () => 'answered',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  // Late socket errors arrive in the next turns; without a listener they would fail the test.
  for (let turns = 0; turns < 5; turns += 1) await turn();
  return outcome;
}
