import { badParameter, fail, type Vault } from '@granary/kernel';
import ipaddr from 'ipaddr.js';
import type { ArrayChap } from '../controllers/chap.ts';
import type { Server } from './server.ts';

/** An address, or a network as address/bits, in its one usual form. */
export function readAddress(text: string): string {
  const [host = '', bits, ...rest] = text.split('/');
  const address = ipaddr.IPv4.isValidFourPartDecimal(host) || isPlainIpv6(host) ? ipaddr.process(host) : undefined;
  const bitsMax = address?.kind() === 'ipv6' ? 128 : 32;
  const isFormed = address !== undefined && rest.length === 0 && (bits === undefined || /^\d{1,3}$/.test(bits));
  if (!isFormed || Number(bits ?? 0) > bitsMax)
    throw badParameter('iscsi', 'must be an IP address such as 10.0.0.7, or a network such as 10.0.0.0/24');
  if (bits === undefined) return address.toString();
  const kind = address.kind() === 'ipv6' ? ipaddr.IPv6 : ipaddr.IPv4;
  return `${kind.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString()}/${Number(bits)}`;
}

function isPlainIpv6(host: string): boolean {
  return ipaddr.IPv6.isValid(host) && !host.includes('%');
}

/** Each in the form `50:01:43:80:11:36:4f:d2`, none twice. */
export function readWwpns(field: string, wwpns: readonly string[]): string[] {
  return [...new Set(wwpns.map((wwpn) => readWwpn(field, wwpn)))];
}

function readWwpn(field: string, text: string): string {
  const digits = text.replaceAll(':', '').toLowerCase();
  const isFormed = digits.length === 16 && /^([0-9a-f]{2}:){7}[0-9a-f]{2}$|^[0-9a-f]{16}$/i.test(text);
  if (!isFormed) throw badParameter(field, 'must be Fibre Channel port names such as 50:01:43:80:11:36:4f:d2');
  return digits.match(/../g)?.join(':') ?? digits;
}

export interface ChapSettings {
  readonly arrayUser: string | null;
  readonly arraySecret: string | null;
  readonly hostUser: string | null;
  readonly hostSecret: string | null;
}

/**
 * What iSCSI asks of secrets: a name with each, the server's proof before the array's, and never one for both. The
 * array's own name needs no secret beside it: such a server has to show the array's.
 */
export function checkChap(
  { arrayUser, arraySecret: ownSecret, hostUser, hostSecret }: ChapSettings,
  array: ArrayChap | undefined,
): void {
  const arraySecret = ownSecret ?? (array !== undefined && arrayUser === array.user ? array.secret : null);
  checkPair(arrayUser, arraySecret, 'arraychapuser', 'arraychapsecret');
  checkPair(hostUser, hostSecret, 'hostchapuser', 'hostchapsecret');
  if (hostUser !== null && arrayUser === null)
    throw badParameter('arraychapuser', 'is required with hostchapuser: the server has to prove itself first');
  if (hostSecret !== null && hostSecret === arraySecret)
    throw badParameter('hostchapsecret', 'must differ from arraychapsecret');
  if (hostSecret === null && ownSecret !== null && ownSecret === array?.hostSecret)
    throw badParameter(
      'arraychapsecret',
      'must differ from the secret the array proves itself with (host_chap_secret)',
    );
}

/** The same rule from the other side: the array's secrets change, those of servers stay. */
export function checkArrayChap(servers: readonly Server[], array: ArrayChap, vault: Vault): void {
  for (const { displayName, name, arrayChapSecret, hostChapSecret } of servers) {
    const shown = arrayChapSecret === null ? array.secret : vault.unseal(arrayChapSecret);
    const proven = hostChapSecret === null ? array.hostSecret : vault.unseal(hostChapSecret);
    if (proven !== shown) continue;
    const field = hostChapSecret === null ? 'host_chap_secret' : 'array_chap_secret';
    throw badParameter(field, `must differ from the secret of server ${displayName} (${name})`);
  }
}

function checkPair(user: string | null, secret: string | null, userField: string, secretField: string): void {
  if (user !== null && secret === null) throw badParameter(secretField, `is required with ${userField}`);
  if (user === null && secret !== null) throw badParameter(userField, `is required with ${secretField}`);
}

/** Nothing here would keep plain traffic out, so nothing here promises to. */
export function refuseIpsec(isWanted: { readonly ipsec_iscsi?: boolean; readonly ipsec_nfs?: boolean }): void {
  for (const [field, wanted] of Object.entries(isWanted)) if (wanted) throw fail('traffic_not_encrypted', { field });
}
