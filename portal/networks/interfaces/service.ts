import { fail, type Db, type Tx } from '@granary/kernel';
import type { Tools } from '../../tools.ts';
import { firstFree, poolOf, type AddressPool } from '../addresses/pool.ts';
import { familyOf, formatAddress, netmaskOf, parseAddress } from '../addresses/subnet.ts';
import { findNetworkForArray, planOf } from '../repository.ts';
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
  /** Of the network. */
  readonly name: string;
  readonly vlan_id: number;
  readonly netmask: string;
  readonly gateway: string | null;
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
    const network = findNetworkForArray(tx, arrayId, networkId);
    if (!network) throw fail('not_found', { kind: 'virtual network', id: networkId });
    const { name } = network;
    const kept = repository.findInterfaceIn(tx, arrayId, networkId);
    if (kept)
      throw fail('in_use', { kind: 'Virtual network', id: name, by: `the array is in it already, as ${kept.address}` });
    const plan = planOf(network);
    if (!plan) throw fail('no_address', { range: `virtual network ${name}, which has no cidr` });
    const address = this.#nextAddress(tx, networkId, poolOf(plan));
    if (address === undefined) throw fail('no_address', { range: `${plan.allocatable} of virtual network ${name}` });
    const id = repository.insertInterface(tx, { arrayId, networkId, address });
    this.#record(tx, arrayId, `Address ${address} in virtual network ${name} was reserved.`, actor);
    return found(tx, id);
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

  #nextAddress(tx: Tx, networkId: number, pool: AddressPool): string | undefined {
    const takenOf = (addresses: string[]) => repository.takenAmong(tx, networkId, addresses);
    const start = this.#starts.of(networkId) ?? pool.first;
    const address = firstFree(pool, start, takenOf) ?? firstFree(pool, pool.first, takenOf);
    if (address === undefined) return undefined;
    this.#starts.raise(tx, networkId, address + 1n);
    return formatAddress(address, pool.family);
  }

  #record(tx: Tx, arrayId: number, title: string, actor: string): void {
    this.#tools.events.record(tx, { title, subject: `array:${arrayId}`, actor });
  }
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
    netmask: netmaskOf((isIpv4 ? cidr : cidr6) ?? ''),
    gateway: isIpv4 ? row.gateway : gateway6,
  };
}
