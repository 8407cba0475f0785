import { NoSuchProcedure, type Call, type Replay, type RpcProgram } from '../rpc/program.ts';
import { XdrError, type XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { lengthOf, type LockManager } from './lock-manager.ts';
import { NlmStatus, readCookie, readLock, readName, type LockArguments } from './messages.ts';

const Procedure = {
  test: 1,
  lock: 2,
  cancel: 3,
  unlock: 4,
  share: 20,
  unshare: 21,
  lockUnmonitored: 22,
  freeAll: 23,
} as const;
const SHARE_BITS_MAX = 3;

/** The lock manager of version 3 (NLM 4), over TCP and thus without the procedures that answer by a call of their own. */
export class NlmProgram implements RpcProgram {
  readonly program = 100021;
  readonly versions = [4];
  readonly #manager: LockManager;

  constructor(manager: LockManager) {
    this.#manager = manager;
  }

  /** Locking twice is locking once. */
  replay(): Replay {
    return 'never';
  }

  async call(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const { procedure } = call;
    if (procedure === Procedure.test) await this.#test(call, args, reply);
    else if (procedure === Procedure.lock || procedure === Procedure.lockUnmonitored)
      await this.#lock(call, args, reply);
    else if (procedure === Procedure.cancel) await this.#cancel(call, args, reply);
    else if (procedure === Procedure.unlock) await this.#unlock(call, args, reply);
    else if (procedure === Procedure.share || procedure === Procedure.unshare) await this.#share(call, args, reply);
    else if (procedure === Procedure.freeAll) this.#freeAll(call, args);
    else throw new NoSuchProcedure();
  }

  async #test(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const cookie = readCookie(args);
    const outcome = await this.#manager.test(call, readLock(args, cookie, args.bool()));
    reply.opaque(cookie);
    if (typeof outcome === 'number') {
      reply.u32(outcome);
      return;
    }
    const { exclusive, owner, start } = outcome;
    reply.u32(NlmStatus.denied).bool(exclusive).i32(owner.processId).opaque(owner.name);
    reply.u64(start).u64(lengthOf(outcome));
  }

  async #lock(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const cookie = readCookie(args);
    const block = args.bool();
    const lock = readLock(args, cookie, args.bool());
    const reclaim = args.bool();
    args.i32();
    reply.opaque(cookie).u32(await this.#manager.lock(call, lock, { block, reclaim }));
  }

  async #cancel(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const cookie = readCookie(args);
    args.bool();
    const lock = readLock(args, cookie, args.bool());
    reply.opaque(cookie).u32(await this.#manager.cancel(call, lock));
  }

  async #unlock(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const cookie = readCookie(args);
    const lock = readLock(args, cookie, false);
    reply.opaque(cookie).u32(await this.#manager.unlock(call, lock));
  }

  async #share(call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
    const cookie = readCookie(args);
    const [caller, handle, owner] = [readName(args), readName(args), readName(args)];
    const [deny, access] = [args.u32(), args.u32()];
    args.bool();
    if (deny > SHARE_BITS_MAX || access > SHARE_BITS_MAX) throw new XdrError('no such share');
    const nothing = { processId: 0, offset: 0n, length: 0n };
    const lock: LockArguments = { cookie, exclusive: (access & 2) !== 0, caller, handle, owner, ...nothing };
    const status =
      call.procedure === Procedure.share
        ? await this.#manager.share(call, lock, { access, deny })
        : await this.#manager.unshare(call, lock);
    reply.opaque(cookie).u32(status).i32(0);
  }

  #freeAll({ address }: Call, args: XdrReader): void {
    const name = readName(args);
    args.i32();
    this.#manager.freeAll(name, address);
  }
}

const NOTIFY = 6;

/** The one procedure of the status monitor that a server needs: a host says that it has restarted and holds nothing. */
export class StatusMonitorProgram implements RpcProgram {
  readonly program = 100024;
  readonly versions = [1];
  readonly #manager: LockManager;

  constructor(manager: LockManager) {
    this.#manager = manager;
  }

  replay(): Replay {
    return 'never';
  }

  call({ procedure, address }: Call, args: XdrReader): void {
    if (procedure !== NOTIFY) throw new NoSuchProcedure();
    const name = readName(args);
    args.i32();
    this.#manager.freeAll(name, address);
  }
}
