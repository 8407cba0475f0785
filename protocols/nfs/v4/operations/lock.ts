import { RANGE_END, ShareBits, type HeldLock, type LockRange } from '../../../locks/index.ts';
import { lockedFile } from '../../operations.ts';
import { XdrError, type XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import type { Compound } from '../compound.ts';
import { Op } from '../opcodes.ts';
import type { Client4 } from '../state/client.ts';
import { StateOwner } from '../state/owner.ts';
import type { LockState, OpenState } from '../state/state.ts';
import { readStateId, writeStateId, type NamedState } from '../state/state-id.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { findState, mustBeRegular } from './io-access.ts';
import { clientOf } from './open.ts';
import { OWNER_BYTES_MAX } from './open-arguments.ts';
import type { Operation } from './operation.ts';
import { inSequence } from './owner-sequence.ts';

const LENGTH_MAX = RANGE_END - 1n;
const LockType = { read: 1, write: 2, readWait: 3, writeWait: 4 } as const;

interface WantedLock {
  readonly exclusive: boolean;
  readonly reclaim: boolean;
  readonly range: LockRange;
}

function readType(args: XdrReader): boolean {
  const type = args.u32();
  if (type < LockType.read || type > LockType.writeWait) throw new XdrError(`${type} is no kind of lock`);
  return type === LockType.write || type === LockType.writeWait;
}

function readRange(args: XdrReader): LockRange {
  const [start, length] = [args.u64(), args.u64()];
  if (length === LENGTH_MAX) return { start, end: RANGE_END };
  if (length === 0n || start + length > RANGE_END) throw new Nfs4Error(Status4.invalid);
  return { start, end: start + length };
}

/** Who is in the way, so that the client can say so. */
function denied({ start, end, exclusive, owner }: HeldLock): Nfs4Error {
  return new Nfs4Error(Status4.denied, (reply) => {
    reply.u64(start).u64(end === RANGE_END ? LENGTH_MAX : end - start);
    reply
      .u32(exclusive ? LockType.write : LockType.read)
      .u64(owner.clientId)
      .opaque(owner.name);
  });
}

export const lock: Operation = async (compound, args, reply) => {
  const exclusive = readType(args);
  const reclaim = args.bool();
  const wanted = { exclusive, reclaim, range: readRange(args) };
  mustBeRegular(await compound.place.filesystem.attributes(compound.place.file), compound.minorVersion);
  if (args.bool()) await lockAsNewOwner(compound, args, reply, wanted);
  else await lockAsKnownOwner(compound, args, reply, wanted);
};

async function lockAsNewOwner(
  compound: Compound,
  args: XdrReader,
  reply: XdrWriter,
  wanted: WantedLock,
): Promise<void> {
  const [openSequence, named, lockSequence] = [args.u32(), readStateId(args), args.u32()];
  const [clientId, ownerName] = [args.u64(), args.opaque(OWNER_BYTES_MAX)];
  const any = findState(compound, named, compound.minorVersion === 0);
  if (compound.minorVersion === 0) compound.server.clients.confirmedById(clientId);
  await inSequence(compound, any.owner, Op.lock, openSequence, reply, async () => {
    const open = findState(compound, named);
    if (open.kind !== 'open' || !open.owner.isConfirmed) throw new Nfs4Error(Status4.badStateId);
    const owner = open.client.ownerOrNew('lock', ownerName);
    owner.isConfirmed = true;
    // The owner's own numbers begin here, wherever they were before.
    if (compound.minorVersion === 0 && owner.states === 0) owner.sequenceId = undefined;
    await inSequence(compound, owner, Op.lock, lockSequence, reply, () => {
      acquireLock(compound, open, owner, wanted, reply);
      return Promise.resolve();
    });
  });
}

async function lockAsKnownOwner(
  compound: Compound,
  args: XdrReader,
  reply: XdrWriter,
  wanted: WantedLock,
): Promise<void> {
  const [named, sequence] = [readStateId(args), args.u32()];
  const { owner } = findLock(compound, named, compound.minorVersion === 0);
  await inSequence(compound, owner, Op.lock, sequence, reply, () => {
    const { open } = findLock(compound, named);
    acquireLock(compound, open, owner, wanted, reply);
    return Promise.resolve();
  });
}

function findLock(compound: Compound, named: NamedState, anySequence = false): LockState {
  const state = findState(compound, named, anySequence);
  if (state.kind !== 'lock') throw new Nfs4Error(Status4.badStateId);
  return state;
}

function acquireLock(
  compound: Compound,
  open: OpenState,
  owner: StateOwner,
  wanted: WantedLock,
  reply: XdrWriter,
): void {
  const { states, limits } = compound.server;
  const { client } = open;
  checkLockGrace(compound, client, wanted.reclaim);
  const needed = wanted.exclusive ? ShareBits.write : ShareBits.read;
  if ((open.access & needed) === 0) throw new Nfs4Error(Status4.openMode);
  const locks = states.locks.of(open.file);
  const conflict = locks.ranges.conflict(owner, wanted.range, wanted.exclusive);
  if (conflict !== undefined) throw wanted.reclaim ? new Nfs4Error(Status4.reclaimConflict) : denied(conflict);
  if (client.ranges >= limits.locksPerClientMax) throw new Nfs4Error(Status4.resource);
  const state = states.lockState(owner, open);
  states.counted(state, () => locks.ranges.lock(owner, wanted.range, wanted.exclusive));
  compound.currentState = state.changed();
  writeStateId(reply, states.instance, state.id);
}

function checkLockGrace({ server: { grace } }: Compound, client: Client4, reclaim: boolean): void {
  if (!reclaim) {
    if (grace.isActive) throw new Nfs4Error(Status4.grace);
    return;
  }
  if (!grace.isActive || client.reclaimComplete) throw new Nfs4Error(Status4.noGrace);
  if (!grace.mayReclaim({ kind: 'v4', name: client.recordName })) throw new Nfs4Error(Status4.reclaimBad);
}

export const lockTest: Operation = async (compound, args) => {
  const exclusive = readType(args);
  const range = readRange(args);
  const [clientId, ownerName] = [args.u64(), args.opaque(OWNER_BYTES_MAX)];
  const { place, server, minorVersion } = compound;
  mustBeRegular(await place.filesystem.attributes(place.file), minorVersion);
  const client = clientOf(compound, clientId);
  server.clients.renew(client);
  if (server.grace.isActive) throw new Nfs4Error(Status4.grace);
  const owner = client.owner('lock', ownerName) ?? new StateOwner(client, ownerName);
  const conflict = server.states.locks.find(lockedFile(place))?.ranges.conflict(owner, range, exclusive);
  if (conflict !== undefined) throw denied(conflict);
};

export const unlock: Operation = async (compound, args, reply) => {
  readType(args);
  const [sequence, named] = [args.u32(), readStateId(args)];
  const range = readRange(args);
  const { states } = compound.server;
  const { owner } = findLock(compound, named, compound.minorVersion === 0);
  await inSequence(compound, owner, Op.unlock, sequence, reply, () => {
    const state = findLock(compound, named);
    states.counted(state, () => states.locks.unlock(state.file, owner, range));
    compound.currentState = state.changed();
    writeStateId(reply, states.instance, state.id);
    return Promise.resolve();
  });
};

/** 4.0: the owner will lock nothing any more. */
export const releaseLockOwner: Operation = (compound, args) => {
  const [clientId, ownerName] = [args.u64(), args.opaque(OWNER_BYTES_MAX)];
  const { clients, states } = compound.server;
  const client = clients.confirmedById(clientId);
  clients.renew(client);
  const owner = client.owner('lock', ownerName);
  if (owner === undefined) return;
  const own = [...client.states.values()].filter((state) => state.kind === 'lock' && state.owner === owner);
  for (const { file } of own) {
    const held = states.locks.find(file)?.ranges.countOf(owner) ?? 0;
    if (held > 0) throw new Nfs4Error(Status4.locksHeld);
  }
  for (const state of own) states.release(state);
  client.dropOwner('lock', owner);
};
