/** 4.1: which stateids are still good, and letting go of those that are not needed. */
import type { Compound } from '../compound.ts';
import { readStateId, type NamedState } from '../state/state-id.ts';
import type { AnyState } from '../state/state.ts';
import { Nfs4Error, Status4, status4Of } from '../status.ts';
import type { Operation } from './operation.ts';

const TESTED_MAX = 1024;

function ownState({ server, minorVersion, session }: Compound, named: NamedState): AnyState {
  const state = server.states.find(named, minorVersion);
  if (state.client !== session?.client) throw new Nfs4Error(Status4.badStateId);
  return state;
}

export const testStateId: Operation = (compound, args, reply) => {
  const tested = args.array(TESTED_MAX, readStateId);
  reply.array(tested, (named) => {
    let status: number = Status4.ok;
    try {
      ownState(compound, named);
    } catch (error) {
      const known = status4Of(error);
      if (known === undefined) throw error;
      status = known;
    }
    reply.u32(status);
  });
};

export const freeStateId: Operation = (compound, args) => {
  const state = ownState(compound, readStateId(args));
  const { states } = compound.server;
  const held = states.locks.find(state.file)?.ranges.countOf(state.owner) ?? 0;
  if (state.kind === 'open' || held > 0) throw new Nfs4Error(Status4.locksHeld);
  states.release(state);
};
