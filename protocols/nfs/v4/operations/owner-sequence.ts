import type { XdrWriter } from '../../xdr/writer.ts';
import { XdrError } from '../../xdr/reader.ts';
import type { Compound } from '../compound.ts';
import type { StateOwner } from '../state/owner.ts';
import { Nfs4Error, Status4, status4Of } from '../status.ts';

/** After these the client uses the same number again. */
const NOT_COUNTED: readonly number[] = [
  Status4.staleClientId,
  Status4.staleStateId,
  Status4.badStateId,
  Status4.badSequenceId,
  Status4.badXdr,
  Status4.resource,
  Status4.noFileHandle,
];

/**
 * 4.0 numbers the requests of an owner. A request that comes again gets the result it got before; one out of order is
 * refused. In 4.1 the session has seen to that already.
 */
export function inSequence(
  compound: Compound,
  owner: StateOwner,
  operation: number,
  sequenceId: number,
  reply: XdrWriter,
  action: () => Promise<void>,
): Promise<void> {
  if (compound.minorVersion > 0) return action();
  return owner.inTurn(async () => {
    if (owner.sequenceId !== undefined) {
      if (sequenceId === owner.sequenceId) {
        repeat(compound, owner, operation, reply);
        return;
      }
      if (sequenceId !== (owner.sequenceId + 1) >>> 0) throw new Nfs4Error(Status4.badSequenceId);
    }
    const start = reply.length;
    try {
      await action();
      owner.sequenceId = sequenceId;
      owner.kept = { operation, status: Status4.ok, body: reply.copyFrom(start), place: compound.current };
    } catch (error) {
      const status = error instanceof XdrError ? Status4.badXdr : (status4Of(error) ?? Status4.serverFault);
      if (!NOT_COUNTED.includes(status)) {
        reply.truncate(start);
        if (error instanceof Nfs4Error) error.body?.(reply);
        owner.sequenceId = sequenceId;
        owner.kept = { operation, status, body: reply.copyFrom(start), place: compound.current };
      }
      throw error;
    }
  });
}

function repeat(compound: Compound, { kept }: StateOwner, operation: number, reply: XdrWriter): void {
  if (kept?.operation !== operation) throw new Nfs4Error(Status4.badSequenceId);
  const { status, body, place } = kept;
  if (status !== Status4.ok) throw new Nfs4Error(status, (writer) => writer.fixed(body));
  compound.current = place;
  reply.fixed(body);
}
