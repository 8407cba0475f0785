import type { ArraySpec } from '@granary/contract/cloud';
import ipaddr from 'ipaddr.js';
import type { HostedRecord } from './repository.ts';

interface Surroundings {
  readonly others: readonly HostedRecord[];
  /** Where the cloud itself listens. */
  readonly host: string;
  /** The range of the cloud's own that an address is in. */
  readonly rangeOf: (address: string) => string | undefined;
}

/** Addresses of interfaces that belong to somebody else. The same address in another VLAN is another address. */
export function interfaceClashes(
  interfaces: ArraySpec['interfaces'],
  { others, host, rangeOf }: Surroundings,
): string[] {
  const own = new Set([host, ...others.flatMap(addressesOf)].map(plain));
  const inVlans = new Set(others.flatMap(({ spec }) => spec.interfaces.map(keyOf)));
  return interfaces.flatMap(({ id, address, vlan_id }) => {
    const subject = `at interfaces: ${address} of interface ${id}`;
    const range = rangeOf(address);
    if (range !== undefined) return [`${subject} is in ${range}, which this cloud gives out itself`];
    if (own.has(plain(address)) || isAny(address)) return [`${subject} is taken by the cloud or an array`];
    return inVlans.has(keyOf({ address, vlan_id })) ? [`${subject} is taken by another array in VLAN ${vlan_id}`] : [];
  });
}

function addressesOf({ management, publicAddress }: HostedRecord): string[] {
  return publicAddress === null ? [management.host] : [management.host, publicAddress];
}

function keyOf({ address, vlan_id }: Pick<ArraySpec['interfaces'][number], 'address' | 'vlan_id'>): string {
  return `${plain(address)} ${vlan_id}`;
}

/** One way of writing for each address: an IPv4 address may also be written as an IPv6 one. */
function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** 0.0.0.0 and :: stand for every address of the machine. */
function isAny(address: string): boolean {
  return ipaddr.process(address).range() === 'unspecified';
}
