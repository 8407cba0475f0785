import { isPortalKey, PORTAL_ACTOR, type CredentialSource, type HostedConfiguration } from '@granary/kernel';
import type { ObjectsActor } from './actor.ts';
import { SYSTEM_ACCOUNT } from './users/service.ts';
import type { SignIns } from './users/sign-ins.ts';
import type { User } from './users/user.ts';

const portal: ObjectsActor = { id: PORTAL_ACTOR, role: 'objs_admin', username: 'portal', accountId: null };

/** By access key, by the portal's internal key, or by username and password. */
export function authenticator(signIns: SignIns, configuration: () => HostedConfiguration) {
  return (source: CredentialSource): ObjectsActor | undefined | Promise<ObjectsActor> => {
    const key = textOf(source.headers['x-access-key'] ?? source.params['access_key']);
    if (key === undefined) return byPassword(signIns, source);
    if (isPortalKey(key, source, configuration())) return portal;
    const user = signIns.byAccessKey(key);
    return user ? actorOf(user) : signIns.refuseKey(source.ip);
  };
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
