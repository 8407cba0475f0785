import { SYSTEM_ACCOUNT } from '@granary/contract/objects';
import {
  delegatedHolder,
  isPortalKey,
  PORTAL_ACTOR,
  type CredentialSource,
  type DelegatedKeys,
  type HostedConfiguration,
  type Sessions,
} from '@granary/kernel';
import type { ObjectsActor } from './actor.ts';
import type { SignIns } from './users/sign-ins.ts';
import type { User } from './users/user.ts';

const portal: ObjectsActor = { id: PORTAL_ACTOR, role: 'objs_admin', username: 'portal', accountId: null };

/** By access key, by a key the portal has for a user, by the portal's internal key, by session, or by name and password. */
export function authenticator(
  signIns: SignIns,
  { sessions, delegated }: { readonly sessions: Sessions; readonly delegated: DelegatedKeys<User> },
  configuration: () => HostedConfiguration,
) {
  return (source: CredentialSource): ObjectsActor | undefined | Promise<ObjectsActor> => {
    const key = textOf(source.headers['x-access-key'] ?? source.params['access_key']);
    if (key === undefined) return bySession(signIns, sessions, source) ?? byPassword(signIns, source);
    if (isPortalKey(key, source, configuration())) return portal;
    const person = delegatedHolder(delegated, key, source, configuration());
    if (person) return { ...actorOf(person.user), hidesSecrets: person.hidesSecrets, person: person.person };
    const user = signIns.byAccessKey(key);
    return user ? actorOf(user) : signIns.refuseKey(source.ip);
  };
}

function bySession(signIns: SignIns, sessions: Sessions, source: CredentialSource): ObjectsActor | undefined {
  const session = sessions.find({ ...source, method: source.endpoint.method });
  const user = session && signIns.byActor(session.user);
  return user && { ...actorOf(user), sessionId: session.id };
}

/** Where an operation has a username or password parameter, it does not name the caller. */
function byPassword(signIns: SignIns, { params, ip, endpoint }: CredentialSource): Promise<ObjectsActor> | undefined {
  if ('username' in endpoint.params || 'password' in endpoint.params) return undefined;
  const user = textOf(params['username']);
  const password = textOf(params['password']);
  if (user === undefined || password === undefined) return undefined;
  const account = params['account'] === undefined ? SYSTEM_ACCOUNT : textOf(params['account']);
  if (account === undefined) return undefined;
  return signIns.byPassword({ account, user, password, ip }).then(actorOf);
}

function actorOf({ number, role, username, accountId }: User): ObjectsActor {
  return { id: `user:${number}`, role, username, accountId };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
