import { recordBytesMax } from '../../limits.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import { XdrWriter } from '../../xdr/writer.ts';
import type { Compound } from '../compound.ts';
import type { Client4 } from '../state/client.ts';
import type { ChannelLimits, NfsSession } from '../state/session.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import type { Operation } from './operation.ts';

const SESSION_ID_BYTES = 16;
const BACK_CHANNEL = 2;
const KNOWN_FLAGS = 7;
const MACHINE_NAME_BYTES_MAX = 255;
const GSS_HANDLE_BYTES_MAX = 1024;
const AuthFlavor = { none: 0, sys: 1, gss: 6 } as const;
/** A channel that cannot carry even this is of no use. */
const USEFUL_BYTES = 512;
const USEFUL_OPERATIONS = 2;

function readChannel(args: XdrReader): ChannelLimits {
  const [headerPadding, requestBytesMax, replyBytesMax] = [args.u32(), args.u32(), args.u32()];
  const [cachedBytesMax, operationsMax, requestsMax] = [args.u32(), args.u32(), args.u32()];
  args.array(1, () => args.u32());
  return { headerPadding, requestBytesMax, replyBytesMax, cachedBytesMax, operationsMax, requestsMax };
}

function writeChannel(reply: XdrWriter, channel: ChannelLimits): void {
  reply.u32(channel.headerPadding).u32(channel.requestBytesMax).u32(channel.replyBytesMax);
  reply.u32(channel.cachedBytesMax).u32(channel.operationsMax).u32(channel.requestsMax).u32(0);
}

/** How callbacks would be authenticated, if there were any. */
function readCallbackSecurity(args: XdrReader): void {
  args.array(8, () => {
    const flavor = args.u32();
    if (flavor === AuthFlavor.sys) {
      args.u32();
      args.opaque(MACHINE_NAME_BYTES_MAX);
      args.u32();
      args.u32();
      args.array(16, () => args.u32());
    } else if (flavor === AuthFlavor.gss) {
      args.u32();
      args.opaque(GSS_HANDLE_BYTES_MAX);
      args.opaque(GSS_HANDLE_BYTES_MAX);
    } else if (flavor !== AuthFlavor.none) {
      throw new Nfs4Error(Status4.badXdr);
    }
  });
}

function agree({ server: { limits } }: Compound, wanted: ChannelLimits): ChannelLimits {
  const { requestBytesMax, replyBytesMax, operationsMax, requestsMax } = wanted;
  const isUseful = Math.min(requestBytesMax, replyBytesMax) >= USEFUL_BYTES && operationsMax >= USEFUL_OPERATIONS;
  if (!isUseful || requestsMax === 0) throw new Nfs4Error(Status4.tooSmall);
  const most = recordBytesMax(limits);
  return {
    headerPadding: 0,
    requestBytesMax: Math.min(requestBytesMax, most),
    replyBytesMax: Math.min(replyBytesMax, most),
    cachedBytesMax: Math.min(wanted.cachedBytesMax, limits.cachedReplyBytesMax),
    operationsMax: Math.min(operationsMax, limits.compoundOperationsMax),
    requestsMax: Math.min(requestsMax, limits.slotsPerSessionMax),
  };
}

export const createSession: Operation = async (compound, args, reply) => {
  const [clientId, sequence, flags] = [args.u64(), args.u32(), args.u32()];
  const [fore, back] = [readChannel(args), readChannel(args)];
  args.u32();
  readCallbackSecurity(args);
  const { clients } = compound.server;
  const client = clients.byId(clientId);
  if (client.minorVersion === 0) throw new Nfs4Error(Status4.staleClientId);
  if (client.identity.principal !== compound.principal && !client.isConfirmed) {
    throw new Nfs4Error(Status4.clientIdInUse);
  }
  const { createReply } = client;
  if (createReply !== undefined && sequence === client.createSequence) {
    if (createReply.status !== Status4.ok) throw new Nfs4Error(createReply.status);
    reply.fixed(createReply.body);
    return;
  }
  if (sequence !== (client.createSequence + 1) >>> 0) throw new Nfs4Error(Status4.sequenceMisordered);
  if ((flags & ~KNOWN_FLAGS) !== 0) throw new Nfs4Error(Status4.invalid);
  const agreed = agree(compound, fore);
  await clients.confirm(client);
  const session = clients.addSession(client, agreed);
  clients.renew(client);
  const body = new XdrWriter();
  body
    .fixed(session.id)
    .u32(sequence)
    .u32(flags & BACK_CHANNEL);
  writeChannel(body, agreed);
  writeChannel(body, { ...back, headerPadding: 0, requestsMax: Math.max(1, Math.min(back.requestsMax, 16)) });
  client.createSequence = sequence;
  client.createReply = { status: Status4.ok, body: body.copyFrom(0) };
  reply.fixed(body.bytes);
};

function sessionOf({ server }: Compound, args: XdrReader): NfsSession {
  const session = server.clients.session(args.fixed(SESSION_ID_BYTES));
  if (session === undefined) throw new Nfs4Error(Status4.badSession);
  return session;
}

export const destroySession: Operation = (compound, args) => {
  const session = sessionOf(compound, args);
  compound.server.clients.removeSession(session);
  if (compound.session === session) compound.slot = undefined;
};

/** Any connection may carry any session; the client only wants to know that this one does. */
export const bindConnection: Operation = (compound, args, reply) => {
  const session = sessionOf(compound, args);
  const direction = args.u32();
  const wantsRdma = args.bool();
  if (![1, 2, 3, 7].includes(direction)) throw new Nfs4Error(Status4.invalid);
  compound.server.clients.renew(session.client);
  reply
    .fixed(session.id)
    .u32(direction === 7 ? 3 : direction)
    .bool(wantsRdma && false);
};

export const backChannelControl: Operation = (_compound, args) => {
  args.u32();
  readCallbackSecurity(args);
};

/**
 * Begins every compound of a session: finds its slot and tells a new request from one that comes again. `compound.replay`
 * is then the reply to give.
 */
export const sequence: Operation = (compound, args, reply) => {
  const session = sessionOf(compound, args);
  const [sequenceId, slotId, highestSlot, keepsReply] = [args.u32(), args.u32(), args.u32(), args.bool()];
  const { client, limits, slots } = session;
  const slot = slots[slotId];
  if (slot === undefined) throw new Nfs4Error(Status4.badSlot);
  if (highestSlot >= slots.length) throw new Nfs4Error(Status4.badHighSlot);
  if (compound.requestBytes > limits.requestBytesMax) throw new Nfs4Error(Status4.requestTooBig);
  if (sequenceId === slot.sequence && sequenceId !== 0) {
    if (slot.isBusy) throw new Nfs4Error(Status4.delay);
    if (slot.reply === undefined) throw new Nfs4Error(Status4.retryUncachedReply);
    compound.replay = slot.reply;
    return;
  }
  if (sequenceId !== (slot.sequence + 1) >>> 0) throw new Nfs4Error(Status4.sequenceMisordered);
  if (slot.isBusy) throw new Nfs4Error(Status4.delay);
  if (compound.operationCount > limits.operationsMax) throw new Nfs4Error(Status4.tooManyOperations);
  slot.sequence = sequenceId;
  slot.isBusy = true;
  compound.server.clients.replies.replace(slot, undefined);
  compound.session = session;
  compound.slot = slot;
  compound.keepsReply = keepsReply;
  renewLease(compound, client);
  const highest = slots.length - 1;
  reply.fixed(session.id).u32(sequenceId).u32(slotId).u32(highest).u32(highest).u32(0);
};

function renewLease({ server }: Compound, client: Client4): void {
  server.clients.renew(client);
}
