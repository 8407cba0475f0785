import { randomBytes, randomInt } from 'node:crypto';
import { median } from '../ratio.ts';
import { BenchConnection } from './connection.ts';
import { listedKey, type Target } from './target.ts';

const IN_FLIGHT = 16;
const ROUNDS = 5;
const ROUND_MS = 1_500;
/**
 * So long it takes until the engine has compiled what runs often, in each of the array's threads: its rate of small PUTs
 * grows by two fifths within half a minute, that of the bare server by a tenth. Large bodies leave most to the system, and
 * would fill the disk.
 */
const WARM_UP_MS = { small: 30_000, large: 8_000 };
const SMALL = randomBytes(4 * 1024);
const LARGE = randomBytes(1024 * 1024);
/** Of the objects put while warming up, those that are got again and again. */
const GOT = { small: 500, large: 32 };

/** One who asks a target with 16 requests under way, and knows what it has put there. */
export class ObjectLoadClient {
  readonly target: Target;
  /** How many keys there are to be listed. */
  readonly listed: number;
  #small = 0;
  #large = 0;

  constructor(target: Target, listed: number) {
    this.target = target;
    this.listed = listed;
  }

  /** Puts what will be got, and makes sure that it comes back as it was, and that a listing is whole. */
  async prepare(): Promise<void> {
    await this.#connected(async (connections) => {
      await each(connections, GOT.small, this.putSmall);
      await each(connections, GOT.large, this.putLarge);
      await this.#check(connections[0] as BenchConnection);
    });
  }

  async #check(connection: BenchConnection): Promise<void> {
    const { target } = this;
    const small = await connection.request(target.object('GET', smallKey(7), 0), null, true);
    const large = await connection.request(target.object('GET', largeKey(7), 0), null, true);
    if (!small.equals(SMALL) || !large.equals(LARGE)) throw new Error(`${target.name} gave back something else.`);
    const page = (await connection.request(target.listing(listedKey(41)), null, true)).toString();
    const keys = page.match(/(?<=<(?:Key|name)>)listed\/\d+/g) ?? [];
    const last = Math.min(1041, this.listed - 1);
    if (keys[0] !== listedKey(42) || keys.at(-1) !== listedKey(last) || keys.length !== last - 41) {
      throw new Error(`${target.name} listed ${keys.length} keys from ${keys[0]} to ${keys.at(-1)}.`);
    }
  }

  readonly putSmall = (connection: BenchConnection): Promise<unknown> =>
    connection.request(this.target.object('PUT', smallKey(this.#small++), SMALL.length), SMALL);

  readonly getSmall = (connection: BenchConnection): Promise<unknown> =>
    connection.request(this.target.object('GET', smallKey(randomInt(GOT.small)), 0));

  readonly putLarge = (connection: BenchConnection): Promise<unknown> =>
    connection.request(this.target.object('PUT', largeKey(this.#large++), LARGE.length), LARGE);

  readonly getLarge = (connection: BenchConnection): Promise<unknown> =>
    connection.request(this.target.object('GET', largeKey(randomInt(GOT.large)), 0));

  readonly list = (connection: BenchConnection): Promise<unknown> =>
    connection.request(this.target.listing(listedKey(randomInt(Math.max(1, this.listed - 1001)))));

  /** Requests a second. */
  rate(request: (connection: BenchConnection) => Promise<unknown>, milliseconds: number): Promise<number> {
    return this.#connected(async (connections) => {
      const start = performance.now();
      const end = start + milliseconds;
      let count = 0;
      const ask = async (connection: BenchConnection) => {
        while (performance.now() < end) {
          await request(connection);
          count += 1;
        }
      };
      await Promise.all(connections.map(ask));
      return (count * 1000) / (performance.now() - start);
    });
  }

  /** Connections of its own for each turn: none is idle for long, and threads get new shares of them each time. */
  async #connected<T>(work: (connections: readonly BenchConnection[]) => Promise<T>): Promise<T> {
    const connecting = Array.from({ length: IN_FLIGHT }, () => BenchConnection.connect(this.target.address));
    const connections = await Promise.all(connecting);
    try {
      return await work(connections);
    } finally {
      for (const connection of connections) connection.close();
    }
  }
}

async function each(
  connections: readonly BenchConnection[],
  count: number,
  request: (connection: BenchConnection) => Promise<unknown>,
): Promise<void> {
  let left = count;
  const ask = async (connection: BenchConnection) => {
    while (left-- > 0) await request(connection);
  };
  await Promise.all(connections.map(ask));
}

export const OPERATIONS = {
  'PUT of 4 KiB': { method: 'putSmall', warmUpMs: WARM_UP_MS.small },
  'GET of 4 KiB': { method: 'getSmall', warmUpMs: WARM_UP_MS.small },
  'PUT of 1 MiB': { method: 'putLarge', warmUpMs: WARM_UP_MS.large },
  'GET of 1 MiB': { method: 'getLarge', warmUpMs: WARM_UP_MS.large },
  'listing of 1,000 keys': { method: 'list', warmUpMs: WARM_UP_MS.small },
} as const;

export type OperationName = keyof typeof OPERATIONS;

/**
 * Requests a second of each client: they take turns, so that a slow moment of the machine hits all, and the median
 * counts. Before the first turn each is asked for a while, until its code is compiled.
 */
export async function ratesOf(operation: OperationName, clients: readonly ObjectLoadClient[]): Promise<number[]> {
  const { method, warmUpMs } = OPERATIONS[operation];
  const seen = clients.map((): number[] => []);
  for (const client of clients) await client.rate(client[method], warmUpMs);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, client] of clients.entries()) seen[index]?.push(await client.rate(client[method], ROUND_MS));
  }
  return seen.map(median);
}

function smallKey(number: number): string {
  return `small/${number}`;
}

function largeKey(number: number): string {
  return `large/${number}`;
}
