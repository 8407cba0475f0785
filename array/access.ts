import type { ArrayRole } from '@granary/contract/array';
import { isPortalKey, type Actor, type CredentialSource, type HostedConfiguration } from '@granary/kernel';
import type { Users } from './users/service.ts';

export interface ArrayActor extends Actor {
  readonly role: ArrayRole;
  readonly username: string;
}

const portal: ArrayActor = { id: 'portal', role: 'admin', username: 'portal' };

/**
 * Whoever holds the key: a user, or the portal with its internal one. `configuration` is asked each time, because the
 * portal may change its key while the array runs.
 */
export function authenticator(users: Users, configuration: () => HostedConfiguration) {
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
