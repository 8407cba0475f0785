import { randomBytes, randomInt } from 'node:crypto';
import { median } from '../ratio.ts';
import { Connection } from './connection.ts';
import { listedKey, type Target } from './target.ts';

const IN_FLIGHT = 16;
const SMALL = randomBytes(4 * 1024);
const LARGE = randomBytes(1024 * 1024);
/** Of the objects put while warming up, those that are got again and again. */
const GOT = { small: 500, large: 32 };

/** One who asks a target with 16 requests under way, and knows what it has put there. */
export class Client {
  readonly target: Target;
  /** How many keys there are to be listed. */
  readonly listed: number;
  readonly #connections: readonly Connection[];
  #small = 0;
  #large = 0;

  static async connect(target: Target, listed: number): Promise<Client> {
    const connections = Array.from({ length: IN_FLIGHT }, () => Connection.connect(target.address));
    return new Client(target, listed, await Promise.all(connections));
  }

  private constructor(target: Target, listed: number, connections: readonly Connection[]) {
    this.target = target;
    this.listed = listed;
    this.#connections = connections;
  }

  /** Puts what will be got, and makes sure that it comes back as it was, and that a listing is whole. */
  async prepare(): Promise<void> {
    const { target } = this;
    await this.#each(GOT.small, (connection) => this.putSmall(connection));
    await this.#each(GOT.large, (connection) => this.putLarge(connection));
    const [connection] = this.#connections;
    if (!connection) throw new Error('There is no connection.');
    const small = await connection.ask(target.object('GET', smallKey(7), 0), null, true);
    const large = await connection.ask(target.object('GET', largeKey(7), 0), null, true);
    if (!small.equals(SMALL) || !large.equals(LARGE)) throw new Error(`${target.name} gave back something else.`);
    const page = (await connection.ask(target.listing(listedKey(41)), null, true)).toString();
    const last = Math.min(1041, this.listed - 1);
    const count = page.split('listed/').length - 1;
    if (!page.includes(listedKey(42)) || !page.includes(listedKey(last)) || count < last - 41) {
      throw new Error(`${target.name} did not list what it should.`);
    }
  }

  readonly putSmall = (connection: Connection): Promise<unknown> =>
    connection.ask(this.target.object('PUT', smallKey(this.#small++), SMALL.length), SMALL);

  readonly getSmall = (connection: Connection): Promise<unknown> =>
    connection.ask(this.target.object('GET', smallKey(randomInt(GOT.small)), 0));

  readonly putLarge = (connection: Connection): Promise<unknown> =>
    connection.ask(this.target.object('PUT', largeKey(this.#large++), LARGE.length), LARGE);

  readonly getLarge = (connection: Connection): Promise<unknown> =>
    connection.ask(this.target.object('GET', largeKey(randomInt(GOT.large)), 0));

  readonly list = (connection: Connection): Promise<unknown> =>
    connection.ask(this.target.listing(listedKey(randomInt(Math.max(1, this.listed - 1001)))));

  /** Requests a second. */
  async rate(request: (connection: Connection) => Promise<unknown>, milliseconds: number): Promise<number> {
    const start = performance.now();
    const end = start + milliseconds;
    let count = 0;
    await Promise.all(
      this.#connections.map(async (connection) => {
        while (performance.now() < end) {
          await request(connection);
          count += 1;
        }
      }),
    );
    return (count * 1000) / (performance.now() - start);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async #each(count: number, request: (connection: Connection) => Promise<unknown>): Promise<void> {
    let left = count;
    await Promise.all(
      this.#connections.map(async (connection) => {
        while (left-- > 0) await request(connection);
      }),
    );
  }
}

export const OPERATIONS = {
  'PUT of 4 KiB': 'putSmall',
  'GET of 4 KiB': 'getSmall',
  'PUT of 1 MiB': 'putLarge',
  'GET of 1 MiB': 'getLarge',
  'listing of 1,000 keys': 'list',
} as const;

export type OperationName = keyof typeof OPERATIONS;

/** Requests a second of each client: they take turns, so that a slow moment of the machine hits all; the median counts. */
export async function ratesOf(
  operation: OperationName,
  clients: readonly Client[],
  { rounds = 5, milliseconds = 1_500 } = {},
): Promise<number[]> {
  const method = OPERATIONS[operation];
  const seen = clients.map((): number[] => []);
  for (const client of clients) await client.rate(client[method], milliseconds);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, client] of clients.entries()) seen[index]?.push(await client.rate(client[method], milliseconds));
  }
  return seen.map(median);
}

function smallKey(number: number): string {
  return `small/${number}`;
}

function largeKey(number: number): string {
  return `large/${number}`;
}
