import type { HostedService } from './configuration.ts';

/** How an array's reports name the place of its public service, beside the addresses that are named by themselves. */
export function servicePlaceText({ address, port }: Pick<HostedService, 'address' | 'port'>): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
