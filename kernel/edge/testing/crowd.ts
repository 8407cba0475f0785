import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Place {
  readonly host: string;
  readonly port: number;
}

const opened = new WeakMap<TestContext, Socket[]>();

/** Closes all connections of a test; a server drains faster without connections. */
export function hangUp(context: TestContext): void {
  for (const socket of opened.get(context) ?? []) socket.destroy();
  opened.delete(context);
}

/** One connection from the given address of the machine itself. */
export async function connectFrom(context: TestContext, { host, port }: Place, localAddress: string): Promise<Socket> {
  const socket = connect({ host, port, localAddress });
  const mine = opened.get(context);
  if (mine) mine.push(socket);
  else {
    opened.set(context, [socket]);
    context.after(() => hangUp(context));
  }
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Opens `count` connections that send nothing, or only what is given. */
export async function crowd(
  context: TestContext,
  place: Place,
  { from, count, sends }: { readonly from: string; readonly count: number; readonly sends?: string },
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let left = count; left > 0; left -= 1) {
    const socket = await connectFrom(context, place, from);
    if (sends !== undefined) socket.write(sends);
    sockets.push(socket);
  }
  return sockets;
}

/** The response to bytes over a connection, until it contains `ends`. */
export async function askOver(socket: Socket, text: string, ends: string): Promise<string> {
  let answer = '';
  socket.write(text);
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    answer += chunk.toString('latin1');
    if (answer.includes(ends)) return answer;
  }
  throw new Error(`the connection was closed after ${JSON.stringify(answer.slice(0, 200))}`);
}
