import { ShareBits } from '../../../locks/index.ts';
import { FileError, type Attributes } from '../../filesystem.ts';
import { lockedFile, mustAllowData } from '../../operations.ts';
import type { Compound } from '../compound.ts';
import type { AnyState } from '../state/state.ts';
import type { NamedState } from '../state/state-id.ts';
import { Nfs4Error, Status4 } from '../status.ts';

/** The state that a stateid names, for the client and the file of this compound; its lease is renewed. */
export function findState(compound: Compound, named: NamedState, anySequence = false): AnyState {
  const { server, minorVersion, session } = compound;
  const id = named.kind === 'current' && minorVersion > 0 ? compound.currentState : undefined;
  const resolved: NamedState = id ? { kind: 'given', instance: server.states.instance, id } : named;
  const state = server.states.find(resolved, minorVersion, anySequence);
  if (session !== undefined && state.client !== session.client) throw new Nfs4Error(Status4.badStateId);
  const { filesystemId, inode, generation } = lockedFile(compound.place);
  const { file } = state;
  const isSameFile = file.filesystemId === filesystemId && file.inode === inode && file.generation === generation;
  if (!isSameFile) throw new Nfs4Error(Status4.badStateId);
  server.clients.renew(state.client);
  return state;
}

/** Whether the file may be read or written: because it is open for that, or by its mode. */
export async function mustAllowIo(
  compound: Compound,
  named: NamedState,
  attributes: Attributes,
  wanted: 'read' | 'write',
): Promise<void> {
  const { place, server } = compound;
  if (named.kind !== 'anonymous' && named.kind !== 'bypass') {
    const state = findState(compound, named);
    const { access } = state.kind === 'open' ? state : state.open;
    // A client that writes parts of pages reads them first, whatever it opened the file for.
    if (wanted === 'write' && (access & ShareBits.write) === 0) throw new Nfs4Error(Status4.openMode);
    return;
  }
  if (server.grace.isActive) throw new Nfs4Error(Status4.grace);
  const bit = wanted === 'read' ? ShareBits.read : ShareBits.write;
  const mayBypass = named.kind === 'bypass' && wanted === 'read';
  if (!mayBypass && server.states.locks.isDenied(lockedFile(place), bit)) throw new Nfs4Error(Status4.locked);
  await mustAllowData(place, attributes, wanted);
}

export function mustBeRegular({ type }: Attributes, minorVersion: number): void {
  if (type === 'file') return;
  if (type === 'directory') throw new FileError('EISDIR');
  if (type === 'symlink') throw new Nfs4Error(minorVersion === 0 ? Status4.invalid : Status4.symlink);
  throw new Nfs4Error(minorVersion === 0 ? Status4.invalid : Status4.wrongType);
}
