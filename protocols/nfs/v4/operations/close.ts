import type { XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import type { Compound } from '../compound.ts';
import { Op } from '../opcodes.ts';
import { OpenState } from '../state/state.ts';
import { readStateId, writeClosedStateId, writeStateId, type NamedState } from '../state/state-id.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { findState } from './io-access.ts';
import type { Operation } from './operation.ts';
import { inSequence } from './owner-sequence.ts';

/** An open by its stateid. A request that comes again names a form of it that is past. */
function findOpen(compound: Compound, named: NamedState): OpenState {
  const state = findState(compound, named, compound.minorVersion === 0);
  if (state.kind !== 'open') throw new Nfs4Error(Status4.badStateId);
  return state;
}

/** Runs in the owner's turn, with a stateid that is the latest. */
function withOpen(
  compound: Compound,
  operation: number,
  { named, sequenceId }: { readonly named: NamedState; readonly sequenceId: number },
  reply: XdrWriter,
  action: (state: OpenState) => void,
): Promise<void> {
  const { owner } = findOpen(compound, named);
  return inSequence(compound, owner, operation, sequenceId, reply, () => {
    const state = findState(compound, named);
    if (state.kind !== 'open') throw new Nfs4Error(Status4.badStateId);
    action(state);
    return Promise.resolve();
  });
}

export const openConfirm: Operation = async (compound, args, reply) => {
  if (compound.minorVersion > 0) throw new Nfs4Error(Status4.notSupported);
  const [named, sequenceId] = [readStateId(args), args.u32()];
  await withOpen(compound, Op.openConfirm, { named, sequenceId }, reply, (state) => {
    if (state.owner.isConfirmed) throw new Nfs4Error(Status4.badStateId);
    state.owner.isConfirmed = true;
    writeStateId(reply, compound.server.states.instance, state.changed());
  });
};

export const openDowngrade: Operation = async (compound, args, reply) => {
  const [named, sequenceId] = [readStateId(args), args.u32()];
  const [access, deny] = [args.u32() & 0xff, args.u32()];
  await withOpen(compound, Op.openDowngrade, { named, sequenceId }, reply, (state) => {
    const isLess = access !== 0 && (access & ~state.access) === 0 && (deny & ~state.deny) === 0;
    if (!isLess) throw new Nfs4Error(Status4.invalid);
    state.access = access;
    state.deny = deny;
    compound.currentState = state.changed();
    writeStateId(reply, compound.server.states.instance, state.id);
  });
};

export const close: Operation = async (compound, args, reply) => {
  const { sequenceId, named } = readClose(args);
  const { states } = compound.server;
  if (compound.minorVersion === 0 && repeatClose(compound, named, sequenceId, reply)) return;
  await withOpen(compound, Op.close, { named, sequenceId }, reply, (state) => {
    states.release(state);
    compound.currentState = undefined;
    if (compound.minorVersion > 0) writeClosedStateId(reply);
    else writeStateId(reply, states.instance, state.changed());
    state.client.closed.remember(state.number, state.owner);
  });
};

function readClose(args: XdrReader): { sequenceId: number; named: NamedState } {
  return { sequenceId: args.u32(), named: readStateId(args) };
}

/** The open is gone when its CLOSE comes again; its owner still has the result. */
function repeatClose(compound: Compound, named: NamedState, sequenceId: number, reply: XdrWriter): boolean {
  if (named.kind !== 'given' || named.instance !== compound.server.states.instance) return false;
  const client = compound.server.clients.byNumber(named.id.client);
  const owner = client?.closed.ownerOf(named.id.number);
  const kept = owner?.kept;
  if (owner?.sequenceId !== sequenceId || kept?.operation !== Op.close || kept.status !== Status4.ok) return false;
  reply.fixed(kept.body);
  return true;
}
