import { networkInterfaces } from 'node:os';
import { canonicalAddress } from './canonical.ts';

/** The addresses this machine's own network interfaces have now. */
export function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return [...new Set(all.map(({ address }) => canonicalAddress(address.replace(/%.*$/, ''))))];
}

/** An address as a range, for those who compare ranges. */
export function rangeOfAddress(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
