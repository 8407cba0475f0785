import type { NfsEvent } from '../events.ts';
import { XdrError, XdrReader } from '../xdr/reader.ts';
import {
  AcceptStatus,
  AuthStatus,
  authError,
  beginReply,
  finishReply,
  readCall,
  RPC_VERSION,
  rpcMismatch,
  versionMismatch,
  type CallHeader,
} from './message.ts';
import type { BufferPool } from './buffer-pool.ts';
import { NoSuchProcedure, type Call, type RpcProgram } from './program.ts';
import { ReplayCache } from './replay-cache.ts';

const NULL_PROCEDURE = 0;

export interface Caller {
  readonly address: string;
  readonly connection: object;
}

/** Hands calls to programs and makes replies of what they answer. */
export class Dispatcher {
  readonly #programs = new Map<number, RpcProgram>();
  readonly #replays: ReplayCache;
  readonly #report: (event: NfsEvent) => void;
  readonly #running = new Set<Promise<Buffer>>();
  readonly #buffers: BufferPool;

  constructor(
    programs: readonly RpcProgram[],
    replays: ReplayCache,
    buffers: BufferPool,
    report: (event: NfsEvent) => void,
  ) {
    this.#buffers = buffers;
    for (const program of programs) this.#programs.set(program.program, program);
    this.#replays = replays;
    this.#report = report;
  }

  /** Resolves when everything is answered that is under way now. */
  async whenAnswered(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Throws `XdrError` if the record is no call. The reply is a whole record. */
  answer(record: Buffer, caller: Caller): Buffer | Promise<Buffer> {
    const reply = this.#answer(record, caller);
    if (Buffer.isBuffer(reply)) return reply;
    this.#running.add(reply);
    const done = () => this.#running.delete(reply);
    reply.then(done, done);
    return reply;
  }

  #answer(record: Buffer, caller: Caller): Buffer | Promise<Buffer> {
    const reader = new XdrReader(record);
    const header = readCall(reader);
    const { xid } = header;
    if (header.rpcVersion !== RPC_VERSION) return rpcMismatch(xid);
    const program = this.#programs.get(header.program);
    if (program === undefined) return finishReply(beginReply(xid, AcceptStatus.programUnavailable));
    const { versions } = program;
    if (!versions.includes(header.version)) return versionMismatch(xid, Math.min(...versions), Math.max(...versions));
    // What is asked for without arguments and without effect is answered to anyone: it says that we are here.
    if (header.procedure === NULL_PROCEDURE) return finishReply(beginReply(xid, AcceptStatus.success));
    const { credentials } = header;
    if (credentials === undefined) {
      return authError(xid, header.badCredentials ? AuthStatus.badCredentials : AuthStatus.tooWeak);
    }
    const { version, procedure } = header;
    const call: Call = { xid, version, procedure, credentials, ...caller, keepReply: false };
    const run = () => this.#run(program, call, reader, header);
    const replay = program.replay(version, procedure, record.subarray(reader.offset));
    if (replay === 'never') return run();
    const keep = () => replay === 'always' || call.keepReply;
    return this.#replays.run(ReplayCache.key(caller.address, record), run, keep);
  }

  async #run(program: RpcProgram, call: Call, args: XdrReader, header: CallHeader): Promise<Buffer> {
    const reply = beginReply(header.xid, AcceptStatus.success, this.#buffers);
    try {
      await program.call(call, args, reply);
      return finishReply(reply);
    } catch (error) {
      return finishReply(beginReply(header.xid, this.#failure(error, call)));
    }
  }

  #failure(error: unknown, call: Call): number {
    if (error instanceof XdrError) return AcceptStatus.garbageArguments;
    if (error instanceof NoSuchProcedure) return AcceptStatus.procedureUnavailable;
    this.#report({ type: 'internal-error', address: call.address, error });
    return AcceptStatus.systemError;
  }
}
