import { isDelegatedKey, unknownDelegatedKey, type Delegated, type DelegatedKeys } from '../auth/delegated-keys.ts';
import { fingerprint } from '../auth/vault.ts';
import type { Actor, CredentialSource } from '../http/types.ts';
import { isPortal } from '../tls/peer.ts';
import type { HostedConfiguration } from './configuration.ts';

/** The id of the portal as an actor of an array. */
export const PORTAL_ACTOR = 'portal';

type Connected = Pick<CredentialSource, 'socket'>;
type PortalTrust = Pick<HostedConfiguration, 'internalKey' | 'tls'>;

/** The portal as a caller of what is for it alone. */
export interface PortalCaller extends Actor {
  readonly role: 'portal';
}

const portalCaller: PortalCaller = { id: PORTAL_ACTOR, role: 'portal' };

/**
 * Whether a key is the portal's. Where the array knows its portal's authority, the connection must be the portal's as
 * well: the key alone is not sufficient.
 */
export function isPortalKey(key: string, source: Connected, trust: PortalTrust): boolean {
  // Compares hashes, so that the time reveals nothing about the key.
  return fingerprint(key) === fingerprint(trust.internalKey) && isPortalConnection(source, trust);
}

function isPortalConnection({ socket }: Connected, { tls }: Pick<HostedConfiguration, 'tls'>): boolean {
  return tls?.clientAuthority === undefined || isPortal(socket, tls.clientAuthority);
}

/** Lets in the portal and nobody else. */
export function portalAuthenticator(configuration: () => PortalTrust) {
  return (source: CredentialSource): PortalCaller | undefined => {
    const key = source.headers['x-access-key'];
    return typeof key === 'string' && isPortalKey(key, source, configuration()) ? portalCaller : undefined;
  };
}

/**
 * The user a delegated key acts as; undefined for any other key. Throws when it is not good any more, or does not come
 * from the portal.
 */
export function delegatedHolder<U extends { readonly role: string }>(
  keys: DelegatedKeys<U>,
  key: string,
  source: Connected,
  configuration: Pick<HostedConfiguration, 'tls'>,
): Delegated<U> | undefined {
  if (!isDelegatedKey(key)) return undefined;
  const holder = isPortalConnection(source, configuration) ? keys.holderOf(key) : undefined;
  if (!holder) throw unknownDelegatedKey();
  return holder;
}
