import type { ObjectsRole } from '@granary/contract/objects';
import { fingerprint, type Actor, type CredentialSource } from '@granary/kernel';
import { SYSTEM_ACCOUNT, type User, type Users } from './users/service.ts';

export interface ObjectsActor extends Actor {
  readonly role: ObjectsRole;
  readonly username: string;
  /** Null for the portal, which belongs to none. */
  readonly accountId: string | null;
}

const portal: ObjectsActor = { id: 'portal', role: 'objs_admin', username: 'portal', accountId: null };

/** By access key, by the portal's internal key, or by username and password. */
export function authenticator(users: Users, internalKey: () => string) {
  return (source: CredentialSource): ObjectsActor | undefined | Promise<ObjectsActor> => {
    const key = textOf(source.headers['x-access-key'] ?? source.params['access_key']);
    if (key === undefined) return byPassword(users, source);
    // Marks are compared, not keys: how long it takes tells nothing about the key.
    if (fingerprint(key) === fingerprint(internalKey())) return portal;
    const user = users.byAccessKey(key);
    return user ? actorOf(user) : users.refuseKey(source.ip);
  };
}

function byPassword(users: Users, { params, ip }: CredentialSource): Promise<ObjectsActor> | undefined {
  const user = textOf(params['username']);
  const password = textOf(params['password']);
  if (user === undefined || password === undefined) return undefined;
  const account = params['account'] === undefined ? SYSTEM_ACCOUNT : textOf(params['account']);
  if (account === undefined) return undefined;
  return users.byPassword({ account, user, password, ip }).then(actorOf);
}

function actorOf({ number, role, username, accountId }: User): ObjectsActor {
  return { id: `user:${number}`, role, username, accountId };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
