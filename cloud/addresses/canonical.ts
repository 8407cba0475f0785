import ipaddr from 'ipaddr.js';

/** One way of writing for each address: an IPv4 address may also be written as an IPv6 one. */
export function canonicalAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/** 0.0.0.0 and :: stand for every address of the machine. */
export function isUnspecified(address: string): boolean {
  return ipaddr.process(address).range() === 'unspecified';
}
