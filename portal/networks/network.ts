import type { Db } from '@granary/kernel';
import type { NetworkId, ProviderId, TenantId } from '../ids.ts';
import type { AddressPlan } from './addresses/pool.ts';

export interface VirtualNetwork {
  readonly id: NetworkId;
  readonly name: string;
  readonly vlanId: number;
  readonly tenantId: TenantId;
  readonly providerId: ProviderId;
  readonly cidr: string | null;
  readonly gateway: string | null;
  readonly gatewayZone1: string | null;
  readonly allocatable: string | null;
  readonly ipv6Cidr: string | null;
  readonly ipv6Gateway: string | null;
  readonly ipv6GatewayZone1: string | null;
  readonly ipv6Allocatable: string | null;
  readonly defaultForTenant: boolean;
  /** An administrator allowed its range whatever it overlaps. */
  readonly forced: boolean;
}

/** What the network hands out, an address of each: IPv4 first; nothing without a range. */
export function plansOf(network: VirtualNetwork): AddressPlan[] {
  const plans: AddressPlan[] = [];
  if (network.cidr !== null && network.allocatable !== null) {
    plans.push({
      cidr: network.cidr,
      gateway: network.gateway,
      gatewayZone1: network.gatewayZone1,
      allocatable: network.allocatable,
    });
  }
  if (network.ipv6Cidr !== null && network.ipv6Allocatable !== null) {
    plans.push({
      cidr: network.ipv6Cidr,
      gateway: network.ipv6Gateway,
      gatewayZone1: network.ipv6GatewayZone1,
      allocatable: network.ipv6Allocatable,
    });
  }
  return plans;
}

/** What is shown of it where there is room for one. */
export function planOf(network: VirtualNetwork): AddressPlan | undefined {
  return plansOf(network)[0];
}

/** The names of arrays by id, in the order of their ids. */
export type ArrayNames = (db: Db, ids: readonly number[]) => ReadonlyMap<number, string>;
