import type { Socket } from 'node:net';
import type { HostAndPort } from '@granary/kernel';

export interface TunnelProxy {
  readonly type: string;
  readonly user: string | null;
  readonly password: string | null;
}

const ANSWER_BYTES_MAX = 16 * 1024;
const ANSWER_MS_MAX = 5_000;

/** Asks an HTTP proxy at the other end of a connection to lead it on. */
export async function openTunnel(socket: Socket, { host, port }: HostAndPort, proxy: TunnelProxy): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const credentials = `${proxy.user ?? ''}:${proxy.password ?? ''}`;
  const lines = [
    `CONNECT ${target} HTTP/${proxy.type === 'http10' ? '1.0' : '1.1'}`,
    `Host: ${target}`,
    ...(proxy.user === null ? [] : [`Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  try {
    const { status, hasMore } = await readAnswer(socket);
    if (status === 407) throw new Error('the proxy refused the user or password');
    if (status < 200 || status > 299) throw new Error(`the proxy answered HTTP ${status}`);
    // The server behind it waits for the client to speak first.
    if (hasMore) throw new Error('the proxy said more than it was asked');
    return socket.resume();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

interface ProxyAnswer {
  /** 0 where it is no HTTP. */
  readonly status: number;
  /** Bytes came after the head, such as an error page. */
  readonly hasMore: boolean;
}

/** The head of the answer. The socket is paused behind it. */
function readAnswer(socket: Socket): Promise<ProxyAnswer> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const stop = () => {
      clearTimeout(timer);
      socket.pause().off('data', take).off('error', refuse).off('close', closed);
    };
    const refuse = (error: Error) => {
      stop();
      reject(error);
    };
    const closed = () => refuse(new Error('the proxy hung up'));
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf('\r\n\r\n');
      if (end === -1) {
        if (read.length > ANSWER_BYTES_MAX) refuse(new Error('the proxy answered too much'));
        return;
      }
      stop();
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(read.toString('latin1', 0, end))?.[1] ?? 0);
      resolve({ status, hasMore: read.length > end + 4 });
    };
    const timer = setTimeout(() => refuse(new Error('the proxy did not answer in time')), ANSWER_MS_MAX);
    socket.on('data', take).once('error', refuse).once('close', closed);
  });
}
