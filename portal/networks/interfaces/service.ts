import { fail, type Db, type Tx } from '@granary/kernel';
import type { ArrayId, InterfaceId, NetworkId } from '../../ids.ts';
import type { Tools } from '../../tools.ts';
import { firstFree, poolOf, rangeFor, type AddressPlan, type AddressPool } from '../addresses/pool.ts';
import { contains, familyOf, formatAddress, parseAddress, subnetOf } from '../addresses/subnet.ts';
import { plansOf, type VirtualNetwork } from '../network.ts';
import { providersOfSameCloud, reservedRanges } from '../cloud-of-provider.ts';
import { findNetworkOfTenant, type OfTenant } from '../repository.ts';
import type { ArrayInterface } from './interface.ts';
import * as repository from './repository.ts';
import { SearchStarts } from './search-starts.ts';

/** What a cloud says of an interface. */
interface Binding {
  readonly id: InterfaceId;
  readonly bound: boolean;
  /** Clouds of earlier versions give no reason. */
  readonly problem?: string | null;
}

/** Whose networks an array may join, and where it is: arrays of the second zone may have a range of their own. */
export interface PlaceOfArray extends OfTenant {
  readonly isInSecondZone: boolean;
}

type FindPlace = (db: Db, arrayId: ArrayId) => PlaceOfArray | undefined;

interface Joinable {
  readonly network: VirtualNetwork;
  readonly plans: readonly AddressPlan[];
  readonly isInSecondZone: boolean;
}

/**
 * The addresses of arrays in virtual networks. An address is reserved first, in the transaction that asks for the
 * work, and attached once the array has it; so two arrays never get the same one, whatever is cut off when.
 */
export class InterfaceService {
  readonly #tools: Pick<Tools, 'events'>;
  readonly #placeOf: FindPlace;
  readonly #starts = new SearchStarts();

  /** `placeOf` says whose networks an array may join: its owner's at its provider. */
  constructor(tools: Pick<Tools, 'events'>, placeOf: FindPlace) {
    this.#tools = tools;
    this.#placeOf = placeOf;
  }

  /** The network must be one of the array's owner at the array's provider. */
  reserveAddress(tx: Tx, arrayId: ArrayId, networkId: NetworkId, actor = 'system'): ArrayInterface {
    const { network, plans, isInSecondZone } = this.#joinable(tx, arrayId, networkId);
    const { name } = network;
    const [address = '', ipv6Address = null] = plans.map((plan) => {
      const next = this.#nextAddress(tx, network, poolOf(plan, isInSecondZone));
      if (next !== undefined) return next;
      throw fail('no_address', { range: `${rangeFor(plan, isInSecondZone)} of virtual network ${name}` });
    });
    const id = repository.insertInterface(tx, { arrayId, networkId, address, ipv6Address });
    const made = found(tx, id);
    this.#record(tx, arrayId, `Address ${addressesOf(made)} in virtual network ${name} was reserved.`, actor);
    return made;
  }

  /** Throws what would keep the array from joining. */
  checkJoin(db: Db, arrayId: ArrayId, networkId: NetworkId): string {
    return this.#joinable(db, arrayId, networkId).network.name;
  }

  /** Keeps what the cloud says of where the array listens; whether that changed anything. */
  recordBindings(tx: Tx, arrayId: ArrayId, bindings: readonly Binding[]): boolean {
    let changed = false;
    for (const known of repository.listInterfaces(tx, arrayId)) {
      const { bound, problem = null } = bindings.find(({ id }) => id === known.id) ?? { bound: false };
      if (bound === known.bound && problem === known.problem) continue;
      changed = true;
      repository.setBinding(tx, known.id, { bound, problem });
      const where = `${addressesOf(known)} in virtual network ${known.name}`;
      if (problem !== null && problem !== known.problem)
        this.#record(tx, arrayId, `The array does not listen on ${where}: ${problem}`, 'system', 'warning');
      else if (bound && known.problem !== null)
        this.#record(tx, arrayId, `The array listens on ${where} now.`, 'system', 'notice');
    }
    return changed;
  }

  /** Safe to repeat, as the job that tells the array may be. */
  attachInterface(tx: Tx, id: InterfaceId, actor = 'system'): void {
    if (!repository.markAttached(tx, id)) return;
    const made = found(tx, id);
    const title = `The array joined virtual network ${made.name} as ${addressesOf(made)}.`;
    this.#record(tx, made.arrayId, title, actor);
  }

  /** Safe to repeat: an interface that is gone stays gone. */
  releaseInterface(tx: Tx, id: InterfaceId, actor = 'system'): void {
    const known = repository.findInterface(tx, id);
    if (!known) return;
    repository.deleteInterface(tx, id);
    for (const address of [known.address, known.ipv6Address ?? known.address]) {
      const family = familyOf(address);
      this.#starts.lower(known.networkId, family, parseAddress(address, family) ?? 0n);
    }
    const title = `Address ${addressesOf(known)} in virtual network ${known.name} was given back.`;
    this.#record(tx, known.arrayId, title, actor);
  }

  releaseAllOfArray(tx: Tx, arrayId: ArrayId, actor = 'system'): void {
    for (const { id } of repository.listInterfaces(tx, arrayId)) this.releaseInterface(tx, id, actor);
  }

  /** The lowest that no array at the cloud has and that the cloud and its machine do not use themselves. */
  #nextAddress(tx: Tx, network: VirtualNetwork, pool: AddressPool): string | undefined {
    const { id: networkId, providerId, forced } = network;
    const reserved = forced ? [] : reservedRanges(tx, providerId).map(subnetOf);
    const isReserved = (address: string) => {
      const number = parseAddress(address, pool.family) ?? 0n;
      return reserved.some((range) => range.family === pool.family && contains(range, number));
    };
    const providerIds = providersOfSameCloud(tx, providerId);
    const takenOf = (addresses: string[]) => [
      ...repository.takenAmong(tx, providerIds, addresses),
      ...addresses.filter(isReserved),
    ];
    const start = this.#starts.of(networkId, pool);
    const address = firstFree(pool, start, takenOf) ?? firstFree(pool, pool.first, takenOf);
    if (address === undefined) return undefined;
    this.#starts.raise(tx, networkId, pool, address + 1n);
    return formatAddress(address, pool.family);
  }

  /** The network must be one of the array's owner at its provider, have addresses, and not have the array in it. */
  #joinable(db: Db, arrayId: ArrayId, networkId: NetworkId): Joinable {
    const place = this.#placeOf(db, arrayId);
    const network = place && findNetworkOfTenant(db, place, networkId);
    if (!network) throw fail('not_found', { kind: 'virtual network', id: networkId });
    const { name } = network;
    const kept = repository.findInterfaceIn(db, arrayId, networkId);
    if (kept)
      throw fail('in_use', {
        kind: 'Virtual network',
        id: name,
        by: `the array is in it already, as ${addressesOf(kept)}`,
      });
    const plans = plansOf(network);
    if (plans.length === 0) throw fail('no_address', { range: `virtual network ${name}, which has no cidr` });
    return { network, plans, isInSecondZone: place.isInSecondZone };
  }

  #record(tx: Tx, arrayId: ArrayId, title: string, actor: string, severity?: 'warning' | 'notice'): void {
    this.#tools.events.record(tx, { title, subject: `array:${arrayId}`, actor, ...(severity && { severity }) });
  }
}

function addressesOf({ address, ipv6Address }: ArrayInterface): string {
  return ipv6Address === null ? address : `${address} and ${ipv6Address}`;
}

export function interfacesOfArray(db: Db, arrayId: ArrayId): ArrayInterface[] {
  return repository.listInterfaces(db, arrayId);
}

function found(tx: Tx, id: InterfaceId): ArrayInterface {
  const known = repository.findInterface(tx, id);
  if (!known) throw fail('not_found', { kind: 'interface', id });
  return known;
}
