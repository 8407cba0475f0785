import { arrayApi, type ArrayRole } from '@granary/contract/array';
import {
  delegatedHolder,
  isPortalKey,
  PORTAL_ACTOR,
  type Actor,
  type Attempt,
  type CredentialSource,
  type DelegatedKeys,
  type HostedConfiguration,
  type Sessions,
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
  byActor(actor: string): KeyHolder | undefined;
  byPassword(attempt: Attempt, password: string): Promise<KeyHolder>;
  /** Slows down clients that guess. */
  refuseKey(ip: string): Promise<never>;
}

/**
 * The actor of a request: a user, by their own key, by one the portal has for them or by session; or the portal with its
 * internal key. `configuration` is read for each request: the portal may change its key while the array runs.
 */
export function authenticator(
  users: KeyHolders,
  { sessions, delegated }: { readonly sessions: Sessions; readonly delegated: DelegatedKeys<KeyHolder> },
  configuration: () => HostedConfiguration,
) {
  return (source: CredentialSource): ArrayActor | undefined | Promise<ArrayActor> => {
    const key = accessKeyOf(source);
    if (key === undefined) return bySession(users, sessions, source) ?? byPassword(users, source);
    if (isPortalKey(key, source, configuration())) return portal;
    const person = delegatedHolder(delegated, key, source, configuration());
    if (person) return { ...actorOf(person.user), hidesSecrets: person.hidesSecrets, person: person.person };
    const user = users.byAccessKey(key);
    if (!user) return users.refuseKey(source.ip);
    return actorOf(user);
  };
}

function bySession(users: KeyHolders, sessions: Sessions, source: CredentialSource): ArrayActor | undefined {
  const session = sessions.find({ ...source, method: source.endpoint.method });
  const user = session && users.byActor(session.user);
  return user && { ...actorOf(user), sessionId: session.id };
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
