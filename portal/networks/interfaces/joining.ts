import type { RecordOf } from '@granary/contract';
import type { CompatibleInterface } from '@granary/contract/portal';
import { badParameter, type Db } from '@granary/kernel';
import type { Page } from '../../paging.ts';
import { netmaskOf } from '../addresses/subnet.ts';
import * as repository from '../repository.ts';
import { planOf, type NetworkRow } from '../repository.ts';

type CompatibleInterfaceView = RecordOf<typeof CompatibleInterface>;

interface ArrayPlace {
  readonly id: number;
  readonly owner_id: number;
  readonly provider_id: number;
}

/** Networks of the owner, at the array's provider, that the array could join: they hand out addresses and it is not in them. */
export function compatibleNetworks(
  db: Db,
  { id: arrayId, owner_id: userId, provider_id: providerId }: ArrayPlace,
  page: Page,
): { interfaces: CompatibleInterfaceView[]; total: number } {
  const array = { arrayId, userId, providerId };
  return {
    interfaces: repository.listJoinable(db, array, page).flatMap(compatibleView),
    total: repository.countJoinable(db, array),
  };
}

export interface OrderedNetwork {
  readonly ownerId: number;
  readonly providerId: number;
  readonly customNetworkId?: number | undefined;
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

function namedNetwork(networks: readonly NetworkRow[], id: number, vlanId: number | undefined): NetworkRow {
  const network = networks.find((one) => one.id === id);
  if (!network)
    throw badParameter('custom_network_id', "must be a virtual network of the array's owner at the provider");
  if (vlanId !== undefined && network.vlan_id !== vlanId)
    throw badParameter('vlan_id', `must be ${network.vlan_id}, the VLAN of virtual network ${network.name}`);
  return withAddresses(network, 'custom_network_id');
}

function networkOnVlan(networks: readonly NetworkRow[], vlanId: number): NetworkRow {
  const there = networks.filter((one) => one.vlan_id === vlanId);
  const [only] = there;
  if (!only) throw badParameter('vlan_id', "must be a VLAN that a virtual network of the array's owner is on");
  if (there.length === 1) return withAddresses(only, 'vlan_id');
  const chosen = favourite(there);
  if (!chosen) throw badParameter('vlan_id', 'has several virtual networks; name one with custom_network_id');
  return chosen;
}

/** The tenant's default, or the only one; networks without addresses are not for joining. */
function favourite(networks: readonly NetworkRow[]): NetworkRow | undefined {
  const joinable = networks.filter(planOf);
  return joinable.find((one) => one.default_for_tenant === 1) ?? (joinable.length === 1 ? joinable[0] : undefined);
}

function withAddresses(network: NetworkRow, field: string): NetworkRow {
  if (!planOf(network))
    throw badParameter(field, `names virtual network ${network.name}, which has no cidr and so no address to give`);
  return network;
}

function compatibleView(network: NetworkRow): CompatibleInterfaceView[] {
  const plan = planOf(network);
  if (!plan) return [];
  const { cidr, gateway } = plan;
  return [
    {
      name: network.name,
      vlan: network.vlan_id,
      custom_network_id: network.id,
      netmask: netmaskOf(cidr),
      cidr,
      gateway,
    },
  ];
}
