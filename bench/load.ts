import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import autocannon from 'autocannon';

export interface Server {
  readonly url: string;
  readonly token: string;
  stop(): void;
}

/** Starts a server in a process of its own, gives it `message`, and waits until it says where it is. */
export async function startServer(file: string, args: readonly string[] = [], message?: object): Promise<Server> {
  const child: ChildProcess = fork(new URL(`servers/${file}`, import.meta.url), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  if (message) child.send(message);
  const [place] = (await once(child, 'message')) as [{ url: string; token?: string }];
  return { url: place.url, token: place.token ?? '', stop: () => child.disconnect() };
}

const CONNECTIONS = 16;

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
}

/** Requests a second of each target: they take turns, so that a slow moment of the machine hits all; the median counts. */
export async function requestRates(
  targets: readonly Target[],
  { rounds = 5, seconds = 3 } = {},
): Promise<Map<string, number>> {
  const rates = new Map<string, number[]>(targets.map(({ name }) => [name, []]));
  for (const target of targets) await measure(target, 1);
  for (let round = 0; round < rounds; round += 1) {
    for (const target of targets) rates.get(target.name)?.push(await measure(target, seconds));
  }
  return new Map([...rates].map(([name, seen]) => [name, median(seen)]));
}

async function measure({ url, headers = {} }: Target, duration: number): Promise<number> {
  const result = await autocannon({ url, headers, duration, connections: CONNECTIONS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} broken`);
  return result.requests.average;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
