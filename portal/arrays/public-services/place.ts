import { badParameter, fail, parseHostAndPort, type Db } from '@granary/kernel';
import ipaddr from 'ipaddr.js';
import type { ArrayId } from '../../ids.ts';
import type { PortalArray } from '../array.ts';
import type { PublicService, ServicePlace } from './public-service.ts';
import { findPublicService } from './repository.ts';

/**
 * Where the public service of an array is served; null while it has none. One without an account is a record of an older
 * version, which served none: its address was never checked.
 */
export function servedPlace(db: Db, arrayId: ArrayId): ServicePlace | null {
  const service = findPublicService(db, arrayId);
  const isServed = service?.state === 'open' || service?.state === 'changing';
  return isServed && service.remoteId !== null ? placeOf(service) : null;
}

/** Where a service that is on record is to be served. */
export function placeOf({ ip, host }: Pick<PublicService, 'ip' | 'host'>): ServicePlace {
  const place = parseHostAndPort(ip, 0);
  return { address: place?.host ?? '', port: place?.port ?? 0, host };
}

/** `ip`, as it is kept, if it is an address and a port at which the array can serve; addresses of others are refused. */
export function checkPlace(
  ip: string,
  { name, ipAddress, publicIp, managementUrl }: PortalArray,
  interfaces: readonly { readonly address: string; readonly ipv6Address: string | null }[],
): string {
  const { address, port } = placeOf({ ip, host: '' });
  if (
    port === 0 ||
    !ipaddr.isValid(address) ||
    (!address.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(address))
  )
    throw badParameter('ip', 'must be ip:port');
  const ofNetworks = interfaces.flatMap((one) => [one.address, one.ipv6Address]);
  const own = [ipAddress, publicIp, ...ofNetworks].filter((one) => one !== null);
  // As the array spells it: its cloud compares texts.
  const known = own.find((one) => isSame(one, address));
  if (known === undefined) {
    const has = own.length > 0 ? `it has ${own.join(', ')}` : 'it has none yet';
    const problem = `must be at an address of array ${name}: ${has}; a public address or a virtual network gives it another`;
    throw badParameter('ip', problem);
  }
  if (managementUrl !== null && portOf(managementUrl) === port)
    throw badParameter('ip', `has the port of the array's management, ${port}; choose another`);
  return known.includes(':') ? `[${known}]:${port}` : `${known}:${port}`;
}

function isSame(one: string, other: string): boolean {
  return ipaddr.process(one).toNormalizedString() === ipaddr.process(other).toNormalizedString();
}

/** Refuses to take an address away that the public service of the array is served at, or is about to be. */
export function refuseServedAddresses(db: Db, { id, name }: PortalArray, addresses: readonly (string | null)[]): void {
  const service = findPublicService(db, id);
  if (!service) return;
  const { address } = placeOf(service);
  if (!ipaddr.isValid(address)) return;
  const served = addresses.find((one) => one !== null && isSame(one, address)) ?? null;
  if (served === null) return;
  const by = `the public object service of array ${name} is at ${service.ip}; move it to another address or delete it first`;
  throw fail('in_use', { kind: 'The address', id: served, by });
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
