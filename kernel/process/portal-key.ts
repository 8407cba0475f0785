import { fingerprint } from '../auth/vault.ts';
import type { CredentialSource } from '../http/types.ts';
import { isPortal } from '../tls/peer.ts';
import type { HostedConfiguration } from './configuration.ts';

/** The id of the portal as an actor of an array. */
export const PORTAL_ACTOR = 'portal';

/**
 * Whether a key is the portal's. Where the array knows its portal's authority, the connection must be the portal's as
 * well: the key alone is not sufficient.
 */
export function isPortalKey(
  key: string,
  { socket }: Pick<CredentialSource, 'socket'>,
  { internalKey, tls }: Pick<HostedConfiguration, 'internalKey' | 'tls'>,
): boolean {
  // Compares hashes, so that the time reveals nothing about the key.
  if (fingerprint(key) !== fingerprint(internalKey)) return false;
  return tls?.clientAuthority === undefined || isPortal(socket, tls.clientAuthority);
}
