import { Client41, type Compound4, type Operation4, ops } from '../../protocols/nfs/testing/client4.ts';
import { RpcClient } from '../../protocols/nfs/testing/rpc-client.ts';

const OK = 0;
const SLOTS = 32;

/** A session of NFS 4.1 over one connection, with many requests under way: one in each slot. */
export class BenchClient {
  readonly #client: Client41;
  readonly #free: number[] = [];

  static async connect(port: number, name: string): Promise<BenchClient> {
    const rpc = await RpcClient.open(port);
    const client = new Client41(rpc, name);
    await client.identify(Buffer.from(`${Date.now()}`.padStart(8).slice(-8)));
    await client.createSession(SLOTS);
    const { status } = await client.compound(ops.raw(58, (args) => args.bool(false)));
    if (status !== OK) throw new Error(`RECLAIM_COMPLETE failed with ${status}`);
    return new BenchClient(client);
  }

  private constructor(client: Client41) {
    this.#client = client;
    for (let slot = 0; slot < SLOTS; slot += 1) this.#free.push(slot);
  }

  /** Results of the operations after SEQUENCE, all of which have to succeed. */
  async compound(...operations: readonly Operation4[]): Promise<readonly unknown[]> {
    const { status, done, results } = await this.attempt(...operations);
    if (status === OK) return results;
    throw new Error(`operation ${done.at(-1)?.[0]} failed with ${status}`);
  }

  async attempt(...operations: readonly Operation4[]): Promise<Compound4> {
    const slot = this.#free.pop();
    if (slot === undefined) throw new Error(`there are ${SLOTS} slots only`);
    const sequence = (this.#client.slots[slot] ?? 0) + 1;
    this.#client.slots[slot] = sequence;
    try {
      const answer = await this.#client.bare(this.#client.sequence(slot, sequence, false), ...operations);
      return { ...answer, done: answer.done.slice(1), results: answer.results.slice(1) };
    } finally {
      this.#free.push(slot);
    }
  }

  /** The handle of a new directory in `/share`. */
  async makeDirectory(name: string): Promise<Buffer> {
    const share = [ops.putRoot(), ops.lookup('share')];
    const results = await this.compound(...share, ops.mkdir(name, { mode: 0o777 }), ops.get());
    return results.at(-1) as Buffer;
  }

  close(): void {
    this.#client.rpc.close();
  }
}
