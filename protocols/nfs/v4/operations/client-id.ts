/** How a client of 4.0 makes itself known, and keeps its lease. */
import { randomBytes } from 'node:crypto';
import { ownCopy } from '../../xdr/own-copy.ts';
import type { XdrReader } from '../../xdr/reader.ts';
import type { Compound } from '../compound.ts';
import type { Client4, ClientIdentity } from '../state/client.ts';
import { Nfs4Error, Status4 } from '../status.ts';
import { VERIFIER_BYTES, type Operation } from './operation.ts';

const CLIENT_NAME_BYTES_MAX = 1024;
const ADDRESS_BYTES_MAX = 256;

export function readIdentity({ call, principal }: Compound, args: XdrReader): ClientIdentity {
  const verifier = ownCopy(args.fixed(VERIFIER_BYTES));
  const name = ownCopy(args.opaque(CLIENT_NAME_BYTES_MAX));
  return { verifier, name, principal, address: call.address };
}

/** Another client with the same name that is alive and holds state. */
export function mustNotBeInUse({ server }: Compound, client: Client4, principal: string): void {
  const isOther = client.identity.principal !== principal;
  if (!isOther || !client.hasState || server.clients.isExpired(client)) return;
  throw new Nfs4Error(Status4.clientIdInUse, (reply) => {
    // In 4.0 it says where from; in 4.1 there is nothing beside the status.
    if (client.minorVersion === 0) reply.text('tcp').text(`${client.identity.address}.0.0`);
  });
}

export const setClientId: Operation = (compound, args, reply) => {
  const identity = readIdentity(compound, args);
  // How to call back. We never do: there are no delegations.
  args.u32();
  args.opaque(ADDRESS_BYTES_MAX);
  args.opaque(ADDRESS_BYTES_MAX);
  args.u32();
  const { clients } = compound.server;
  const confirmed = clients.confirmedByName(identity.name);
  if (confirmed !== undefined) mustNotBeInUse(compound, confirmed, identity.principal);
  const confirmation = randomBytes(VERIFIER_BYTES).readBigUInt64BE();
  const isSame = confirmed?.minorVersion === 0 && confirmed.identity.verifier.equals(identity.verifier);
  const client = isSame ? confirmed : clients.addUnconfirmed(identity, 0);
  if (isSame) confirmed.identity = identity;
  client.confirmation = confirmation;
  clients.renew(client);
  reply.u64(client.id).u64(confirmation);
};

export const setClientIdConfirm: Operation = async (compound, args) => {
  const [id, confirmation] = [args.u64(), args.u64()];
  const { clients } = compound.server;
  const client = clients.byId(id);
  if (client.confirmation !== confirmation || client.minorVersion !== 0) throw new Nfs4Error(Status4.staleClientId);
  if (client.identity.principal !== compound.principal) throw new Nfs4Error(Status4.clientIdInUse);
  if (client.isConfirmed) clients.renew(client);
  else await clients.confirm(client);
};

export const renew: Operation = (compound, args) => {
  const { clients } = compound.server;
  clients.renew(clients.confirmedById(args.u64()));
};
