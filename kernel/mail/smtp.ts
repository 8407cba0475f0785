import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { outgoingAddress } from '../net/outgoing.ts';
import type { Mail } from './notice.ts';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS is used where the server offers it. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly password: string | null;
}

export interface Letter extends Mail {
  readonly from: string;
  /** A comma list. */
  readonly to: string;
}

const CONNECT_MS_MAX = 10_000;
const SILENCE_MS_MAX = 20_000;

/** Connects to the address that was checked, and verifies the certificate against the configured name. */
export async function sendBySmtp(server: MailServer, letter: Letter, signal: AbortSignal): Promise<void> {
  const { host, port, secure, user, password } = server;
  const address = await outgoingAddress(host);
  const { createTransport } = await import('nodemailer');
  signal.throwIfAborted();
  const socket = new Socket();
  // The library listens only while it uses the socket, which may be destroyed before and after.
  socket.on('error', () => undefined);
  const transport = createTransport({
    socket,
    host: address.replace(/^\[|\]$/g, ''),
    port,
    secure,
    ...(user !== null && { auth: { user, pass: password ?? '' } }),
    // Without a password to protect, an untrusted certificate is no worse than no encryption.
    tls: { ...(isIP(host) === 0 && { servername: host }), rejectUnauthorized: secure || user !== null },
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
  });
  const sent = transport.sendMail({ ...fieldsOf(letter), disableFileAccess: true, disableUrlAccess: true });
  const stopped = new AbortController();
  try {
    // The library does not notice that a socket was destroyed before it connected.
    await Promise.race([sent, once(signal, 'abort', { signal: stopped.signal }).then(stop)]);
  } finally {
    stopped.abort();
    sent.catch(() => undefined);
    socket.destroy();
  }
}

function stop(): never {
  throw new Error('the service stops');
}

/** The mail as it would be sent: a file that a mail program opens. */
export async function letterFile(letter: Letter): Promise<Buffer> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  const { message } = await transport.sendMail({
    ...fieldsOf(letter),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return message as Buffer;
}

function fieldsOf({ from, to, subject, text }: Letter): Letter {
  return { from, to, subject, text };
}
