import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Name and password of each sign-in. */
  readonly signIns: readonly string[];
  /** How many connections there were. */
  readonly connections: () => number;
  /** While true, every mail is refused. */
  isRefusing: boolean;
}

/** A mail server that takes what it is sent, on loopback. */
export async function startMailServer(t: TestContext): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const signIns: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    serve(socket, { mails, signIns, isRefusing: () => mailServer.isRefusing });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const mailServer: MailServer = { port, mails, signIns, connections: () => connections, isRefusing: false };
  return mailServer;
}

interface Desk {
  readonly mails: ReceivedMail[];
  readonly signIns: string[];
  readonly isRefusing: () => boolean;
}

function serve(socket: Socket, { mails, signIns, isRefusing }: Desk): void {
  let from = '';
  let to: string[] = [];
  let body: string[] | undefined;
  let rest = '';
  const say = (line: string) => socket.write(`${line}\r\n`);
  const answers: [RegExp, (argument: string) => void][] = [
    [/^EHLO /i, () => say('250-test\r\n250 AUTH PLAIN')],
    [/^AUTH PLAIN (.*)/i, (given) => (signIns.push(decoded(given)), say('235 welcome'))],
    [/^MAIL FROM:<(.*?)>/i, (given) => ((from = given), say(isRefusing() ? '451 not now' : '250 ok'))],
    [/^RCPT TO:<(.*?)>/i, (given) => (to.push(given), say('250 ok'))],
    [/^DATA/i, () => ((body = []), say('354 go on'))],
    [/^QUIT/i, () => (say('221 bye'), socket.end())],
    [/^/, () => say('250 ok')],
  ];
  const take = (line: string) => {
    if (body === undefined) {
      const [pattern, answer] = answers.find(([pattern]) => pattern.test(line))!;
      answer(pattern.exec(line)?.[1] ?? '');
    } else if (line === '.') {
      mails.push({ from, to, text: body.join('\n') });
      [body, to] = [undefined, []];
      say('250 taken');
    } else body.push(line.replace(/^\.\./, '.'));
  };
  say('220 test');
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

function decoded(given: string): string {
  return Buffer.from(given, 'base64').toString().split('\0').slice(1).join(' ');
}
