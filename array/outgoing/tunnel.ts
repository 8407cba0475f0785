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
  const status = await readStatus(socket);
  if (status >= 200 && status < 300) return socket.resume();
  socket.destroy();
  throw new Error(status === 407 ? 'the proxy refused the user or password' : `the proxy answered HTTP ${status}`);
}

function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const impatience = setTimeout(() => {
      socket.destroy(new Error('the proxy did not answer in time'));
    }, ANSWER_MS_MAX);
    const stop = () => {
      clearTimeout(impatience);
      socket.pause().off('data', take).off('error', refuse).off('close', closed);
    };
    const refuse = (error: Error) => {
      stop();
      reject(error);
    };
    const closed = () => {
      refuse(new Error('the proxy hung up'));
    };
    const take = (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf('\r\n\r\n');
      if (end === -1) {
        if (read.length > ANSWER_BYTES_MAX) socket.destroy(new Error('the proxy answered too much'));
        return;
      }
      // The other end waits to be spoken to.
      if (read.length > end + 4) socket.destroy(new Error('the proxy said more than it was asked'));
      stop();
      resolve(Number(/^HTTP\/1\.[01] (\d{3})/.exec(read.toString('latin1'))?.[1] ?? 0));
    };
    socket.on('data', take).once('error', refuse).once('close', closed);
  });
}
