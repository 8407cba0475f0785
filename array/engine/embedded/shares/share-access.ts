import type { ExportAccess } from '@granary/protocols/nfs';
import ipaddr from 'ipaddr.js';
import { EngineError } from '../../errors.ts';
import type { ServedShare, ShareClient } from '../../shares.ts';

type Address = ReturnType<typeof ipaddr.process>;

/** What a client at an address may do with a share, and as which server. */
interface GrantedAccess extends ExportAccess {
  readonly server: string;
}

interface Grant {
  readonly client: ShareClient;
  readonly network: readonly [Address, number];
  readonly access: GrantedAccess;
}

/** Clients that ask again and again are not looked up each time. */
const REMEMBERED_MAX = 1024;

/** Who may use a share. The smallest network that an address lies in decides, then the lowest server. */
export class ShareAccess {
  readonly #grants: readonly Grant[];
  readonly #known = new Map<string, GrantedAccess | undefined>();

  /** Throws `invalid` for a client that is no address and no network. */
  constructor(share: ServedShare) {
    this.#grants = share.clients.map((client) => grantOf(client, share)).sort(byCloseness);
  }

  of(address: string): GrantedAccess | undefined {
    if (this.#known.has(address)) return this.#known.get(address);
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
    const found = this.#find(address);
    this.#known.set(address, found);
    return found;
  }

  #find(address: string): GrantedAccess | undefined {
    if (!ipaddr.isValid(address)) return undefined;
    const from = ipaddr.process(address);
    return this.#grants.find(({ network: [base, bits] }) => from.kind() === base.kind() && from.match(base, bits))
      ?.access;
  }
}

function grantOf(client: ShareClient, share: ServedShare): Grant {
  const { sync, squash, anonymousUid, anonymousGid } = share;
  const { server, readOnly } = client;
  const access = { server, readOnly, sync, squash, anonymousUid, anonymousGid };
  return { client, network: networkOf(client.address), access };
}

function networkOf(address: string): readonly [Address, number] {
  if (address.includes('/') && ipaddr.isValidCIDR(address)) return ipaddr.parseCIDR(address);
  if (!ipaddr.isValid(address)) {
    throw new EngineError('invalid', `${address} is no address and no network like 10.1.0.0/16.`);
  }
  const single = ipaddr.process(address);
  return [single, single.kind() === 'ipv6' ? 128 : 32];
}

function byCloseness(one: Grant, other: Grant): number {
  return other.network[1] - one.network[1] || (one.client.server < other.client.server ? -1 : 1);
}
