import type { ArraySpec } from '@granary/contract/cloud';
import { ipv6AddressOf, type HostedInterface, type NetworkAddress } from '@granary/kernel';
import { canonicalAddress } from '../addresses/canonical.ts';
import type { Config } from '../config/schema.ts';
import type { HostedRecord } from './repository.ts';

type WantedInterface = ArraySpec['interfaces'][number];
type WantedAddress = NonNullable<WantedInterface['ipv6']>;

/** The interfaces of an array with the addresses the cloud gave it: it gets no others. */
export function interfacesOf(
  { spec }: Pick<HostedRecord, 'spec'>,
  owned: readonly string[],
  isSecondZone: boolean,
): HostedInterface[] {
  return spec.interfaces.flatMap((wanted) => {
    const isOwned = ({ address }: WantedAddress) => owned.includes(canonicalAddress(address));
    const [first, second] = [wanted, wanted.ipv6]
      .filter((one) => one !== undefined)
      .filter(isOwned)
      .map((one) => addressOf(one, isSecondZone));
    if (!first) return [];
    return [{ id: wanted.id, ...first, vlanId: wanted.vlan_id, ...(second && { ipv6: second }) }];
  });
}

/** Networks may have gateways of their own for the second zone of a cloud. */
export function isSecondZone({ zones }: Config, zone: string): boolean {
  return zones[1]?.name === zone;
}

/** An array has an IPv6 address where a virtual network it is in has them. */
export function ipv6OfArray(array: HostedRecord, owned: readonly string[]): string | null {
  return ipv6AddressOf({ ...array, interfaces: interfacesOf(array, owned, false) });
}

function addressOf(
  { address, netmask, gateway, gateway_zone_1: gatewayZone1 }: WantedAddress,
  isSecond: boolean,
): NetworkAddress {
  return { address, netmask, gateway: isSecond ? (gatewayZone1 ?? gateway) : gateway };
}
