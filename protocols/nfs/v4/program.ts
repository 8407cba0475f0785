import { NoSuchProcedure, type Call } from '../rpc/program.ts';
import { XdrError, type XdrReader } from '../xdr/reader.ts';
import type { XdrWriter } from '../xdr/writer.ts';
import { Compound, type Version4 } from './compound.ts';
import { Op } from './opcodes.ts';
import { isRetired, OPERATIONS } from './operations/table.ts';
import { Nfs4Error, Status4, status4Of } from './status.ts';

const COMPOUND = 1;
const TAG_BYTES_MAX = 1024;
const MINOR_VERSION_MAX = 1;
/** 4.1: may stand alone, without a session. */
const WITHOUT_SESSION: readonly number[] = [
  Op.exchangeId,
  Op.createSession,
  Op.destroySession,
  Op.bindConnection,
  Op.destroyClientId,
];

/** In a session, retransmissions are recognized by their slot; before sessions, by their bytes. */
export function isReplayed4(procedure: number, args: XdrReader): boolean {
  if (procedure !== COMPOUND) return false;
  try {
    args.opaque(TAG_BYTES_MAX);
    return args.u32() === 0;
  } catch (error) {
    if (error instanceof XdrError) return false;
    throw error;
  }
}

/** Runs the operations of a compound one after the other, up to the first that fails. */
export async function call4(server: Version4, call: Call, args: XdrReader, reply: XdrWriter): Promise<void> {
  if (call.procedure !== COMPOUND) throw new NoSuchProcedure();
  const bytes = args.remaining;
  const [tag, minorVersion, count] = [args.opaque(TAG_BYTES_MAX), args.u32(), args.u32()];
  const start = reply.length;
  reply.u32(0).opaque(tag);
  const countAt = reply.length;
  reply.u32(0);
  const run = new CompoundRun(new Compound(server, call, { minorVersion, bytes, operations: count }), reply, start);
  const { status, done } = await run.all(args, count).catch((error: unknown) => {
    run.abandon();
    throw error;
  });
  if (run.writeReplay()) return;
  reply.setU32(start, status);
  reply.setU32(countAt, done);
  run.keep();
}

class CompoundRun {
  readonly #compound: Compound;
  readonly #reply: XdrWriter;
  readonly #start: number;

  constructor(compound: Compound, reply: XdrWriter, start: number) {
    this.#compound = compound;
    this.#reply = reply;
    this.#start = start;
  }

  async all(args: XdrReader, count: number): Promise<{ status: number; done: number }> {
    const { minorVersion, server } = this.#compound;
    if (minorVersion > MINOR_VERSION_MAX) return { status: Status4.minorVersionMismatch, done: 0 };
    if (count > server.limits.compoundOperationsMax) {
      return { status: minorVersion === 0 ? Status4.resource : Status4.tooManyOperations, done: 0 };
    }
    for (let index = 0; index < count; index++) {
      if (args.remaining < 4) throw new XdrError('fewer operations than announced');
      const status = await this.#one(args, index);
      if (this.#compound.replay !== undefined) return { status, done: index };
      if (status !== Status4.ok) return { status, done: index + 1 };
    }
    return { status: Status4.ok, done: count };
  }

  async #one(args: XdrReader, index: number): Promise<number> {
    const reply = this.#reply;
    const operation = args.u32();
    const known = OPERATIONS.get(operation);
    const isKnown = known !== undefined && known.minor.includes(this.#compound.minorVersion);
    const start = reply.length;
    reply.u32(known === undefined ? Op.illegal : operation).u32(Status4.ok);
    try {
      this.#checkPosition(operation, index);
      if (!isKnown) throw new Nfs4Error(this.#unknown(operation));
      if (known.changes === true) this.#compound.call.keepReply = true;
      await known.run(this.#compound, args, reply);
      this.#checkSize();
      return Status4.ok;
    } catch (error) {
      const status = this.#statusOf(error);
      reply.truncate(start);
      reply.u32(isKnown || isRetired(operation) ? operation : Op.illegal).u32(status);
      if (error instanceof Nfs4Error) error.body?.(reply);
      // SETATTR says what was set even if it was nothing.
      if (operation === Op.setAttributes) reply.u32(0);
      return status;
    }
  }

  #unknown(operation: number): number {
    return this.#compound.minorVersion > 0 && isRetired(operation) ? Status4.notSupported : Status4.illegalOperation;
  }

  #statusOf(error: unknown): number {
    if (error instanceof XdrError) return Status4.badXdr;
    const status = status4Of(error);
    if (status !== undefined) return status;
    const { server, call } = this.#compound;
    server.report({ type: 'internal-error', address: call.address, error });
    return Status4.serverFault;
  }

  /** 4.1: the first operation says which session it is, or is one that needs none and stands alone. */
  #checkPosition(operation: number, index: number): void {
    const { minorVersion, operationCount, session } = this.#compound;
    if (minorVersion === 0) return;
    if (operation === Op.sequence) {
      if (index > 0) throw new Nfs4Error(Status4.sequencePosition);
      return;
    }
    if (session !== undefined || !OPERATIONS.has(operation)) return;
    if (!WITHOUT_SESSION.includes(operation)) throw new Nfs4Error(Status4.operationNotInSession);
    if (operationCount > 1) throw new Nfs4Error(Status4.notOnlyOperation);
  }

  #checkSize(): void {
    const { session, keepsReply } = this.#compound;
    if (session === undefined) return;
    const bytes = this.#reply.length;
    if (bytes > session.limits.replyBytesMax) throw new Nfs4Error(Status4.replyTooBig);
    if (keepsReply && bytes > session.limits.cachedBytesMax) throw new Nfs4Error(Status4.replyTooBigToCache);
  }

  /** Whether the reply is that of an earlier request. */
  writeReplay(): boolean {
    const { replay } = this.#compound;
    if (replay === undefined) return false;
    this.#reply.truncate(this.#start);
    this.#reply.fixed(replay);
    return true;
  }

  /** The slot is free for the next request; this one has no reply that could be repeated. */
  abandon(): void {
    if (this.#compound.slot !== undefined) this.#compound.slot.isBusy = false;
  }

  /** Ends the slot's request, with its reply kept if the client wants that. */
  keep(): void {
    const { slot, keepsReply, server } = this.#compound;
    if (slot === undefined) return;
    slot.isBusy = false;
    const bytes = this.#reply.length - this.#start;
    if (keepsReply && server.clients.replies.hasRoomFor(bytes)) {
      server.clients.replies.replace(slot, this.#reply.copyFrom(this.#start));
    }
  }
}
