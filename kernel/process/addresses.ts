import type { HostedConfiguration, HostedInterface } from './configuration.ts';

type Addressed = Pick<HostedConfiguration, 'management' | 'publicAddress' | 'interfaces'>;

/** Where an array listens beside its own address: each once, its public one first. */
export function otherAddresses({ publicAddress, interfaces }: Omit<Addressed, 'management'>): string[] {
  const all = [...(publicAddress === null ? [] : [publicAddress]), ...interfaces.flatMap(addressesOfInterface)];
  return [...new Set(all)];
}

export function addressesOfInterface({ address, ipv6 }: Pick<HostedInterface, 'address' | 'ipv6'>): string[] {
  return ipv6 ? [address, ipv6.address] : [address];
}

/** The IPv6 address that clients reach an array at: its own, or the first it has beside that. */
export function ipv6AddressOf(array: Addressed): string | null {
  return [array.management.host, ...otherAddresses(array)].find((address) => address.includes(':')) ?? null;
}
