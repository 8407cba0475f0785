import type { RecordOf } from '@granary/contract';
import type { CompatibleInterface, VirtualNetwork as NetworkRecord } from '@granary/contract/portal';
import { netmaskOf } from './addresses/subnet.ts';
import { planOf, type VirtualNetwork } from './network.ts';

export type NetworkView = RecordOf<typeof NetworkRecord>;
export type CompatibleInterfaceView = RecordOf<typeof CompatibleInterface>;

type Shown = Pick<VirtualNetwork, 'id' | 'name' | 'vlanId' | 'tenantId' | 'providerId'>;

export function networkView(network: Shown): NetworkView {
  return {
    id: network.id,
    vlan_id: network.vlanId,
    tenant_id: network.tenantId,
    provider_id: network.providerId,
    name: network.name,
  };
}

/** As a network that an array could join; none without addresses. */
export function compatibleView(network: VirtualNetwork): CompatibleInterfaceView[] {
  const plan = planOf(network);
  if (!plan) return [];
  const { cidr, gateway } = plan;
  return [
    {
      name: network.name,
      vlan: network.vlanId,
      custom_network_id: network.id,
      netmask: netmaskOf(cidr),
      cidr,
      gateway,
    },
  ];
}
