import { fail, type Db, type Tx } from '@granary/kernel';
import type { Tools } from '../../tools.ts';
import { firstFree, poolOf, type AddressPlan, type AddressPool } from '../addresses/pool.ts';
import { contains, familyOf, formatAddress, netmaskOf, parseAddress, subnetOf } from '../addresses/subnet.ts';
import { findNetworkForArray, planOf, reservedRanges, type NetworkRow } from '../repository.ts';
import * as repository from './repository.ts';
import type { JoinedInterface } from './repository.ts';
import { SearchStarts } from './search-starts.ts';

/** An array's address in a virtual network. */
export interface InterfaceRow {
  readonly id: number;
  readonly array_id: number;
  readonly virtual_network_id: number;
  readonly address: string;
  /** Whether the array has been told. */
  readonly attached: boolean;
  /** Whether the array listens there, as its cloud last said, and why not. */
  readonly bound: boolean;
  readonly problem: string | null;
  /** Of the network. */
  readonly name: string;
  readonly vlan_id: number;
  readonly netmask: string;
  readonly gateway: string | null;
  /** An administrator allowed the network's range whatever it overlaps. */
  readonly forced: boolean;
}

/** What a cloud says of an interface. */
interface Binding {
  readonly id: number;
  readonly bound: boolean;
  /** Clouds of earlier versions give no reason. */
  readonly problem?: string | null;
}

/**
 * The addresses of arrays in virtual networks. An address is reserved first, in the transaction that asks for the
 * work, and attached once the array has it; so two arrays never get the same one, whatever is cut off when.
 */
export class Interfaces {
  readonly #tools: Pick<Tools, 'events'>;
  readonly #starts = new SearchStarts();

  constructor(tools: Pick<Tools, 'events'>) {
    this.#tools = tools;
  }

  /** The network must be one of the array's owner at the array's provider. */
  reserveAddress(tx: Tx, arrayId: number, networkId: number, actor = 'system'): InterfaceRow {
    const { network, plan } = joinable(tx, arrayId, networkId);
    const { name } = network;
    const address = this.#nextAddress(tx, network, poolOf(plan));
    if (address === undefined) throw fail('no_address', { range: `${plan.allocatable} of virtual network ${name}` });
    const id = repository.insertInterface(tx, { arrayId, networkId, address });
    this.#record(tx, arrayId, `Address ${address} in virtual network ${name} was reserved.`, actor);
    return found(tx, id);
  }

  /** Throws what would keep the array from joining. */
  checkJoin(db: Db, arrayId: number, networkId: number): string {
    return joinable(db, arrayId, networkId).network.name;
  }

  /** Keeps what the cloud says of where the array listens; whether that changed anything. */
  recordBindings(tx: Tx, arrayId: number, bindings: readonly Binding[]): boolean {
    let changed = false;
    for (const row of repository.listInterfaces(tx, arrayId)) {
      const { bound, problem = null } = bindings.find(({ id }) => id === row.id) ?? { bound: false };
      if (bound === (row.bound === 1) && problem === row.problem) continue;
      changed = true;
      repository.setBinding(tx, row.id, { bound, problem });
      const where = `${row.address} in virtual network ${row.name}`;
      if (problem !== null && problem !== row.problem)
        this.#record(tx, arrayId, `The array does not listen on ${where}: ${problem}`, 'system', 'warning');
      else if (bound && row.problem !== null)
        this.#record(tx, arrayId, `The array listens on ${where} now.`, 'system', 'notice');
    }
    return changed;
  }

  /** Safe to repeat, as the job that tells the array may be. */
  attachInterface(tx: Tx, id: number, actor = 'system'): void {
    if (!repository.markAttached(tx, id)) return;
    const { array_id: arrayId, name, address } = found(tx, id);
    this.#record(tx, arrayId, `The array joined virtual network ${name} as ${address}.`, actor);
  }

  /** Safe to repeat: an interface that is gone stays gone. */
  releaseInterface(tx: Tx, id: number, actor = 'system'): void {
    const row = repository.findInterface(tx, id);
    if (!row) return;
    repository.deleteInterface(tx, id);
    this.#starts.lower(row.virtual_network_id, parseAddress(row.address, familyOf(row.address)) ?? 0n);
    const title = `Address ${row.address} in virtual network ${row.name} was given back.`;
    this.#record(tx, row.array_id, title, actor);
  }

  releaseAllOfArray(tx: Tx, arrayId: number, actor = 'system'): void {
    for (const { id } of repository.listInterfaces(tx, arrayId)) this.releaseInterface(tx, id, actor);
  }

  /** The lowest that no array at the cloud has and that the cloud and its machine do not use themselves. */
  #nextAddress(tx: Tx, network: NetworkRow, pool: AddressPool): string | undefined {
    const { id: networkId, provider_id: providerId, forced } = network;
    const reserved = forced === 1 ? [] : reservedRanges(tx, providerId).map(subnetOf);
    const isReserved = (address: string) => {
      const number = parseAddress(address, pool.family) ?? 0n;
      return reserved.some((range) => range.family === pool.family && contains(range, number));
    };
    const takenOf = (addresses: string[]) => [
      ...repository.takenAmong(tx, providerId, addresses),
      ...addresses.filter(isReserved),
    ];
    const start = this.#starts.of(networkId) ?? pool.first;
    const address = firstFree(pool, start, takenOf) ?? firstFree(pool, pool.first, takenOf);
    if (address === undefined) return undefined;
    this.#starts.raise(tx, networkId, address + 1n);
    return formatAddress(address, pool.family);
  }

  #record(tx: Tx, arrayId: number, title: string, actor: string, severity?: 'warning' | 'notice'): void {
    this.#tools.events.record(tx, { title, subject: `array:${arrayId}`, actor, ...(severity && { severity }) });
  }
}

/** The network must be one of the array's owner at its provider, have addresses, and not have the array in it. */
function joinable(db: Db, arrayId: number, networkId: number): { network: NetworkRow; plan: AddressPlan } {
  const network = findNetworkForArray(db, arrayId, networkId);
  if (!network) throw fail('not_found', { kind: 'virtual network', id: networkId });
  const { name } = network;
  const kept = repository.findInterfaceIn(db, arrayId, networkId);
  if (kept)
    throw fail('in_use', { kind: 'Virtual network', id: name, by: `the array is in it already, as ${kept.address}` });
  const plan = planOf(network);
  if (!plan) throw fail('no_address', { range: `virtual network ${name}, which has no cidr` });
  return { network, plan };
}

export function interfacesOfArray(db: Db, arrayId: number): InterfaceRow[] {
  return repository.listInterfaces(db, arrayId).map(rowOf);
}

function found(tx: Tx, id: number): InterfaceRow {
  const row = repository.findInterface(tx, id);
  if (!row) throw fail('not_found', { kind: 'interface', id });
  return rowOf(row);
}

function rowOf({ cidr, ipv6_cidr: cidr6, ipv6_gateway: gateway6, ...row }: JoinedInterface): InterfaceRow {
  const isIpv4 = familyOf(row.address) === 'ipv4';
  return {
    ...row,
    attached: row.attached === 1,
    bound: row.bound === 1,
    forced: row.forced === 1,
    netmask: netmaskOf((isIpv4 ? cidr : cidr6) ?? ''),
    gateway: isIpv4 ? row.gateway : gateway6,
  };
}
