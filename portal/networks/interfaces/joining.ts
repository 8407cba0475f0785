import { badParameter, type Db, type Page } from '@granary/kernel';
import type { ArrayId, NetworkId, ProviderId, UserId } from '../../ids.ts';
import { planOf, type VirtualNetwork } from '../network.ts';
import * as repository from '../repository.ts';
import { compatibleView, type CompatibleInterfaceView } from '../view.ts';

interface ArrayPlace {
  readonly id: ArrayId;
  readonly ownerId: UserId;
  readonly providerId: ProviderId;
}

/** Networks of the owner, at the array's provider, that the array could join: they hand out addresses and it is not in them. */
export function compatibleNetworks(
  db: Db,
  { id: arrayId, ownerId: userId, providerId }: ArrayPlace,
  page: Page,
): { interfaces: CompatibleInterfaceView[]; total: number } {
  const array = { arrayId, userId, providerId };
  return {
    interfaces: repository.listJoinable(db, array, page).flatMap(compatibleView),
    total: repository.countJoinable(db, array),
  };
}

export interface OrderedNetwork {
  readonly ownerId: UserId;
  readonly providerId: ProviderId;
  readonly customNetworkId?: NetworkId | undefined;
  readonly vlanId?: number | undefined;
}

/**
 * The network a new array joins: the one that is named, else the owner's on the named VLAN, else the default of the
 * owner's tenant or its only one; undefined where there is none to join by itself.
 */
export function networkForOrder(db: Db, order: OrderedNetwork): number | undefined {
  const { ownerId: userId, providerId, customNetworkId, vlanId } = order;
  const networks = repository.networksOfTenant(db, { userId, providerId });
  if (customNetworkId !== undefined) return namedNetwork(networks, customNetworkId, vlanId).id;
  if (vlanId !== undefined) return networkOnVlan(networks, vlanId).id;
  return favourite(networks)?.id;
}

function namedNetwork(networks: readonly VirtualNetwork[], id: NetworkId, vlanId: number | undefined): VirtualNetwork {
  const network = networks.find((one) => one.id === id);
  if (!network)
    throw badParameter('custom_network_id', "must be a virtual network of the array's owner at the provider");
  if (vlanId !== undefined && network.vlanId !== vlanId)
    throw badParameter('vlan_id', `must be ${network.vlanId}, the VLAN of virtual network ${network.name}`);
  return withAddresses(network, 'custom_network_id');
}

function networkOnVlan(networks: readonly VirtualNetwork[], vlanId: number): VirtualNetwork {
  const there = networks.filter((one) => one.vlanId === vlanId);
  const [only] = there;
  if (!only) throw badParameter('vlan_id', "must be a VLAN that a virtual network of the array's owner is on");
  if (there.length === 1) return withAddresses(only, 'vlan_id');
  const chosen = favourite(there);
  if (!chosen) throw badParameter('vlan_id', 'has several virtual networks; name one with custom_network_id');
  return chosen;
}

/** The tenant's default, or the only one; networks without addresses are not for joining. */
function favourite(networks: readonly VirtualNetwork[]): VirtualNetwork | undefined {
  const joinable = networks.filter(planOf);
  return joinable.find((one) => one.defaultForTenant) ?? (joinable.length === 1 ? joinable[0] : undefined);
}

function withAddresses(network: VirtualNetwork, field: string): VirtualNetwork {
  if (!planOf(network))
    throw badParameter(field, `names virtual network ${network.name}, which has no cidr and so no address to give`);
  return network;
}
