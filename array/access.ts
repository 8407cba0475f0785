import type { ArrayRole } from '@granary/contract/array';
import { isPortalKey, type Actor, type CredentialSource, type HostedConfiguration } from '@granary/kernel';

export interface ArrayActor extends Actor {
  readonly role: ArrayRole;
  readonly username: string;
}

const portal: ArrayActor = { id: 'portal', role: 'admin', username: 'portal' };

/** The users of the array, as far as signing in by key needs them. */
interface KeyHolders {
  byAccessKey(key: string): { readonly id: number; readonly role: ArrayRole; readonly username: string } | undefined;
  /** Slows down clients that guess. */
  refuseKey(ip: string): Promise<never>;
}

/**
 * The actor of a request: a user, or the portal with its internal key.
 * `configuration` is read for each request: the portal may change its key while the array runs.
 */
export function authenticator(users: KeyHolders, configuration: () => HostedConfiguration) {
  return (source: CredentialSource): ArrayActor | undefined | Promise<never> => {
    const key = accessKeyOf(source);
    if (key === undefined) return undefined;
    if (isPortalKey(key, source, configuration())) return portal;
    const user = users.byAccessKey(key);
    if (!user) return users.refuseKey(source.ip);
    return { id: `user:${user.id}`, role: user.role, username: user.username };
  };
}

function accessKeyOf({ headers, params }: CredentialSource): string | undefined {
  const given = headers['x-access-key'] ?? headers['x-token'] ?? params['access_key'];
  return typeof given === 'string' && given !== '' ? given : undefined;
}
