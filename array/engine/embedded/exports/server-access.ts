import type { Access, LunAccess } from '@granary/protocols/iscsi';
import ipaddr from 'ipaddr.js';
import type { ExportedServer } from '../../engine.ts';

type Address = ReturnType<typeof ipaddr.process>;

interface KnownServer {
  readonly server: ExportedServer;
  readonly comesFrom: (address: Address) => boolean;
  readonly access: Access;
}

/** Which server an initiator is, and what it may reach. */
export class ServerAccess {
  readonly #servers = new Map<string, KnownServer>();
  readonly #byInitiator = new Map<string, Map<string, KnownServer>>();

  put(server: ExportedServer, luns: ReadonlyMap<number, LunAccess>): void {
    this.remove(server.id);
    const known = { server, comesFrom: origin(server.address), access: accessOf(server, luns) };
    this.#servers.set(server.id, known);
    const initiator = server.initiator ?? '';
    const same = this.#byInitiator.get(initiator) ?? new Map<string, KnownServer>();
    this.#byInitiator.set(initiator, same.set(server.id, known));
  }

  remove(id: string): void {
    const initiator = this.#servers.get(id)?.server.initiator ?? '';
    this.#servers.delete(id);
    const same = this.#byInitiator.get(initiator);
    same?.delete(id);
    if (same?.size === 0) this.#byInitiator.delete(initiator);
  }

  get(id: string): ExportedServer | undefined {
    return this.#servers.get(id)?.server;
  }

  /**
   * Of all servers an initiator could be, the one that is described most closely: by its name before its address, then by
   * the smallest network, then the one with the lowest id. The order in which servers were changed does not count.
   */
  find(initiator: string, remoteAddress: string): Access | undefined {
    const address = parseAddress(remoteAddress);
    if (address === undefined) return undefined;
    return (this.#closest(initiator, address) ?? this.#closest('', address))?.access;
  }

  #closest(initiator: string, address: Address): KnownServer | undefined {
    const matching = [...(this.#byInitiator.get(initiator)?.values() ?? [])].filter(
      // One without name and address matches no initiator.
      ({ server, comesFrom }) => (initiator !== '' || server.address !== null) && comesFrom(address),
    );
    return matching.sort(byCloseness)[0];
  }
}

function byCloseness(one: KnownServer, other: KnownServer): number {
  const [bits, otherBits] = [networkBits(one), networkBits(other)];
  if (bits !== otherBits) return bits > otherBits ? -1 : 1;
  return one.server.id < other.server.id ? -1 : 1;
}

function accessOf(
  { id, chap, mutualChap, isChapRequired }: ExportedServer,
  luns: ReadonlyMap<number, LunAccess>,
): Access {
  if (chap === null) return { label: id, luns };
  const mutual = mutualChap && { mutualUser: mutualChap.user, mutualSecret: mutualChap.secret };
  return { label: id, luns, chap: { ...chap, ...mutual, isOptional: !isChapRequired } };
}

function origin(address: string | null): (from: Address) => boolean {
  if (address === null) return () => true;
  if (!address.includes('/')) {
    const wanted = parseAddress(address)?.toString();
    return (from) => from.toString() === wanted;
  }
  if (!ipaddr.isValidCIDR(address)) return () => false;
  const [network, bits] = ipaddr.parseCIDR(address);
  return (from) => from.kind() === network.kind() && from.match(network, bits);
}

function networkBits({ server: { address } }: KnownServer): number {
  if (address === null) return -1;
  const bits = address.split('/')[1];
  return bits === undefined ? Infinity : Number(bits);
}

/** What comes over IPv6 sockets as IPv4 is IPv4. */
function parseAddress(address: string): Address | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
