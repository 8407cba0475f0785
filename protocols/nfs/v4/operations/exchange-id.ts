/** How a client of 4.1 makes itself known and takes its leave. */
import { XdrError, type XdrReader } from '../../xdr/reader.ts';
import type { XdrWriter } from '../../xdr/writer.ts';
import type { Compound } from '../compound.ts';
import type { Client4, ClientIdentity } from '../state/client.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { mustNotBeInUse, readIdentity } from './client-id.ts';
import type { Operation } from './operation.ts';

const TEXT_BYTES_MAX = 1024;
const Flag = { notPnfs: 0x10000, pnfsBits: 0x70000, update: 0x4000_0000, confirmed: 0x8000_0000 } as const;
/** What a client may ask for. */
const KNOWN_FLAGS = 0x1 | 0x2 | 0x4 | 0x100 | Flag.pnfsBits | Flag.update;
const NO_PROTECTION = 0;
const PROTECTIONS_MAX = 2;

function readImplementation(args: XdrReader): void {
  args.array(1, () => {
    args.opaque(TEXT_BYTES_MAX);
    args.opaque(TEXT_BYTES_MAX);
    args.u64();
    args.u32();
  });
}

export const exchangeId: Operation = (compound, args, reply) => {
  const identity = readIdentity(compound, args);
  const [flags, protection] = [args.u32(), args.u32()];
  if (protection > PROTECTIONS_MAX) throw new XdrError(`${protection} is no kind of protection`);
  if ((flags & ~KNOWN_FLAGS) !== 0) throw new Nfs4Error(Status4.invalid);
  // Protection of state rests on Kerberos.
  if (protection !== NO_PROTECTION) throw new Nfs4Error(Status4.invalid);
  readImplementation(args);
  const client = (flags & Flag.update) !== 0 ? update(compound, identity) : introduce(compound, identity);
  writeResult(compound, reply, client);
};

/** A client that is known has nothing but its new identity changed. */
function update({ server }: Compound, identity: ClientIdentity): Client4 {
  const client = server.clients.confirmedByName(identity.name);
  if (client === undefined) throw new Nfs4Error(Status4.noEntry);
  if (!client.identity.verifier.equals(identity.verifier)) throw new Nfs4Error(Status4.notSame);
  if (client.identity.principal !== identity.principal) throw new Nfs4Error(Status4.perm);
  client.identity = identity;
  return client;
}

function introduce(compound: Compound, identity: ClientIdentity): Client4 {
  const { clients } = compound.server;
  const confirmed = clients.confirmedByName(identity.name);
  if (confirmed !== undefined) {
    mustNotBeInUse(compound, confirmed, identity.principal);
    const isSame =
      confirmed.minorVersion > 0 &&
      confirmed.identity.principal === identity.principal &&
      confirmed.identity.verifier.equals(identity.verifier);
    if (isSame) return confirmed;
  }
  // A client that restarted: what it held before is given up when it confirms itself.
  return clients.addUnconfirmed(identity, 1);
}

function writeResult({ server }: Compound, reply: XdrWriter, client: Client4): void {
  const flags = Flag.notPnfs | (client.isConfirmed ? Flag.confirmed : 0);
  reply
    .u64(client.id)
    .u32(client.createSequence + 1)
    .u32(flags >>> 0)
    .u32(NO_PROTECTION);
  reply.u64(0n).opaque(server.serverOwner).opaque(server.serverOwner);
  // Nothing about the implementation.
  reply.u32(0);
}

export const destroyClientId: Operation = async (compound, args) => {
  const client = compound.server.clients.byId(args.u64());
  if (client.sessions.size > 0 || client.hasState) throw new Nfs4Error(Status4.clientIdBusy);
  if (client.isConfirmed) await compound.server.clients.drop(client);
  else compound.server.clients.remove(client);
};

/** One filesystem that moved here from another server: there is nothing to claim. */
function mustHavePlace({ current }: Compound): void {
  if (current === undefined) throw new Nfs4Error(Status4.noFileHandle);
}

export const reclaimComplete: Operation = async (compound, args) => {
  const oneFilesystem = args.bool();
  const { session, server } = compound;
  if (session === undefined) throw new Nfs4Error(Status4.operationNotInSession);
  const { client } = session;
  if (oneFilesystem) {
    mustHavePlace(compound);
    return;
  }
  if (client.reclaimComplete) throw new Nfs4Error(Status4.completeAlready);
  client.reclaimComplete = true;
  await server.grace.completed({ kind: 'v4', name: client.recordName });
};
