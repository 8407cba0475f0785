import { arrayApi, type ArrayRole } from '@granary/contract/array';
import {
  isPortalKey,
  PORTAL_ACTOR,
  type Actor,
  type Attempt,
  type CredentialSource,
  type HostedConfiguration,
} from '@granary/kernel';

export interface ArrayActor extends Actor {
  readonly role: ArrayRole;
  readonly username: string;
}

const portal: ArrayActor = { id: PORTAL_ACTOR, role: 'admin', username: 'portal' };

const PASSWORD_MAX = 255;

interface KeyHolder {
  readonly id: number;
  readonly role: ArrayRole;
  readonly username: string;
}

/** The users of the array, as far as signing in by key needs them. */
interface KeyHolders {
  byAccessKey(key: string): KeyHolder | undefined;
  byPassword(attempt: Attempt, password: string): Promise<KeyHolder>;
  /** Slows down clients that guess. */
  refuseKey(ip: string): Promise<never>;
}

/**
 * The actor of a request: a user, or the portal with its internal key.
 * `configuration` is read for each request: the portal may change its key while the array runs.
 */
export function authenticator(users: KeyHolders, configuration: () => HostedConfiguration) {
  return (source: CredentialSource): ArrayActor | undefined | Promise<ArrayActor> => {
    const key = accessKeyOf(source);
    if (key === undefined) return byPassword(users, source);
    if (isPortalKey(key, source, configuration())) return portal;
    const user = users.byAccessKey(key);
    if (!user) return users.refuseKey(source.ip);
    return actorOf(user);
  };
}

/** A user without a key gets one by name and password: that call alone takes them. */
function byPassword(users: KeyHolders, { endpoint, params, ip }: CredentialSource): Promise<ArrayActor> | undefined {
  const { name: username, password } = params;
  if (endpoint.path !== arrayApi.groups.users.resetAccessKey.path || typeof username !== 'string') return undefined;
  if (typeof password !== 'string' || password === '' || password.length > PASSWORD_MAX) return undefined;
  return users.byPassword({ username, ip }, password).then(actorOf);
}

function actorOf({ id, role, username }: KeyHolder): ArrayActor {
  return { id: `user:${id}`, role, username };
}

function accessKeyOf({ headers, params }: CredentialSource): string | undefined {
  const given = headers['x-access-key'] ?? headers['x-token'] ?? params['access_key'];
  return typeof given === 'string' && given !== '' ? given : undefined;
}
