import { Op } from '../v4/opcodes.ts';
import {
  ANONYMOUS,
  ops,
  readCompound,
  writeCompound,
  type Compound4,
  type Opened4,
  type OpenOptions,
  type Operation4,
  type StateId4,
} from './operations4.ts';
import type { RpcClient } from './rpc-client.ts';

export * from './operations4.ts';

const NFS = 100003;

/** Compounds of 4.0 over one connection, with a client id. */
export class Client40 {
  readonly rpc: RpcClient;
  readonly name: string;
  clientId = 0n;
  /** Per open owner. */
  readonly #sequences = new Map<string, number>();

  constructor(rpc: RpcClient, name: string) {
    this.rpc = rpc;
    this.name = name;
  }

  static async connect(rpc: RpcClient, name: string, verifier = Buffer.from('verifier')): Promise<Client40> {
    const client = new Client40(rpc, name);
    await client.identify(verifier);
    return client;
  }

  async compound(...operations: readonly Operation4[]): Promise<Compound4> {
    const body = await this.rpc.request(NFS, 4, 1, (args) => writeCompound(args, 0, operations));
    return readCompound(body, operations);
  }

  async setClientId(verifier: Buffer): Promise<Compound4> {
    return this.compound({
      op: Op.setClientId,
      write: (args) => args.fixed(verifier).text(this.name).u32(1).text('tcp').text('0.0.0.0.0.0').u32(0),
      read: (body) => [body.u64(), body.u64()],
    });
  }

  async identify(verifier: Buffer): Promise<void> {
    const { results, status } = await this.setClientId(verifier);
    if (status !== 0) throw new Error(`SETCLIENTID failed with ${status}`);
    const [id, confirmation] = results[0] as [bigint, bigint];
    const confirmed = await this.compound(ops.raw(Op.setClientIdConfirm, (args) => args.u64(id).u64(confirmation)));
    if (confirmed.status !== 0) throw new Error(`SETCLIENTID_CONFIRM failed with ${confirmed.status}`);
    this.clientId = id;
  }

  nextSequence(owner: string): number {
    const next = (this.#sequences.get(owner) ?? 0) + 1;
    this.#sequences.set(owner, next);
    return next;
  }

  /** Opens by name in `/share` and confirms if that is asked for. */
  async open(options: OpenOptions): Promise<{ status: number; state: StateId4; handle: Buffer }> {
    const { owner = 'owner' } = options;
    const full = { ...options, clientId: this.clientId, sequence: this.nextSequence(owner) };
    const { status, results } = await this.compound(ops.putRoot(), ops.lookup('share'), ops.open(full), ops.get());
    if (status !== 0) return { status, state: ANONYMOUS, handle: Buffer.alloc(0) };
    const [opened, handle] = [results[2] as Opened4, results[3] as Buffer];
    if ((opened.flags & 2) === 0) return { status, state: opened.state, handle };
    const confirm = await this.compound(ops.put(handle), ops.confirm(opened.state, this.nextSequence(owner)));
    return { status: confirm.status, state: confirm.results[1] as StateId4, handle };
  }
}

/** A session of 4.1. */
export class Client41 {
  readonly rpc: RpcClient;
  readonly name: string;
  clientId = 0n;
  sessionId: Buffer = Buffer.alloc(16);
  readonly slots: number[] = [];

  constructor(rpc: RpcClient, name: string) {
    this.rpc = rpc;
    this.name = name;
  }

  static async connect(rpc: RpcClient, name: string, verifier?: Buffer): Promise<Client41> {
    const client = new Client41(rpc, name);
    await client.identify(verifier);
    await client.createSession();
    await client.compound(ops.raw(Op.reclaimComplete, (args) => args.bool(false)));
    return client;
  }

  async bare(...operations: readonly Operation4[]): Promise<Compound4> {
    const body = await this.rpc.request(NFS, 4, 1, (args) => writeCompound(args, 1, operations));
    return readCompound(body, operations);
  }

  exchange(verifier: Buffer = Buffer.from('verifier'), flags = 0): Promise<Compound4> {
    return this.bare({
      op: Op.exchangeId,
      write: (args) => args.fixed(verifier).text(this.name).u32(flags).u32(0).u32(0),
      read: (body) => ({ clientId: body.u64(), sequence: body.u32(), flags: body.u32() }),
    });
  }

  async identify(verifier?: Buffer): Promise<number> {
    const { status, results } = await this.exchange(verifier);
    if (status !== 0) throw new Error(`EXCHANGE_ID failed with ${status}`);
    const { clientId, sequence } = results[0] as { clientId: bigint; sequence: number };
    this.clientId = clientId;
    this.createSequence = sequence;
    return sequence;
  }

  createSequence = 1;

  create(slots: number, sequence = this.createSequence): Promise<Compound4> {
    return this.bare({
      op: Op.createSession,
      write: (args) => {
        args.u64(this.clientId).u32(sequence).u32(2);
        for (let channel = 0; channel < 2; channel++) {
          args.u32(0).u32(1_100_000).u32(1_100_000).u32(4096).u32(32).u32(slots).u32(0);
        }
        args.u32(0x4000_0000).u32(1).u32(0);
      },
      read: (body) => Buffer.from(body.fixed(16)),
    });
  }

  async createSession(slots = 8): Promise<void> {
    const { status, results } = await this.create(slots);
    if (status !== 0) throw new Error(`CREATE_SESSION failed with ${status}`);
    this.sessionId = results[0] as Buffer;
    this.slots.length = 0;
    for (let slot = 0; slot < slots; slot++) this.slots.push(0);
  }

  sequence(slot: number, sequence: number, keep = true): Operation4 {
    return {
      op: Op.sequence,
      write: (args) => args.fixed(this.sessionId).u32(sequence).u32(slot).u32(slot).bool(keep),
      read: (body) => body.fixed(36),
    };
  }

  /** Results are those of the operations after SEQUENCE. */
  async compound(...operations: readonly Operation4[]): Promise<Compound4> {
    const sequence = (this.slots[0] = this.slots[0]! + 1);
    const answer = await this.bare(this.sequence(0, sequence, false), ...operations);
    return { ...answer, done: answer.done.slice(1), results: answer.results.slice(1) };
  }

  async open(options: OpenOptions): Promise<{ status: number; state: StateId4; handle: Buffer }> {
    const answer = await this.compound(ops.putRoot(), ops.lookup('share'), ops.open(options), ops.get());
    const { status, results } = answer;
    if (status !== 0) return { status, state: ANONYMOUS, handle: Buffer.alloc(0) };
    return { status, state: (results[2] as Opened4).state, handle: results[3] as Buffer };
  }
}
