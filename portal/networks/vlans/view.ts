import type { RecordOf } from '@granary/contract';
import type { Vlan as VlanRecord } from '@granary/contract/portal';
import type { NameOnVlan, Vlan } from './vlan.ts';

export type VlanView = RecordOf<typeof VlanRecord>;

type NamesByVlan = ReadonlyMap<string, string[]>;

export function namesByVlan(named: readonly NameOnVlan[]): NamesByVlan {
  const names = new Map<string, string[]>();
  for (const one of named) {
    const known = names.get(keyOf(one));
    if (known) known.push(one.name);
    else names.set(keyOf(one), [one.name]);
  }
  return names;
}

export function vlanView(vlan: Vlan, networks: NamesByVlan, arrays: NamesByVlan): VlanView {
  return {
    default: vlan.isDefault,
    cloud_id: vlan.cloudId,
    provider_id: vlan.providerId,
    vlan_id: vlan.vlanId,
    custom_networks: networks.get(keyOf(vlan)) ?? [],
    arrays: arrays.get(keyOf(vlan)) ?? [],
  };
}

function keyOf({ cloudId, vlanId }: Pick<Vlan, 'cloudId' | 'vlanId'>): string {
  return `${cloudId}/${vlanId}`;
}
