import type { Identities } from '@granary/protocols/nfs';
import type { NasAccounts } from '../../shares.ts';

/** Users and groups by name and by number, as NFS asks for them. */
export class KnownAccounts {
  #groupsOf = new Map<number, readonly number[]>();
  #users = new Map<string, number>();
  #groups = new Map<string, number>();

  /**
   * Names are understood, but numbers are sent: a client that does not know the domain of a name takes its owner for
   * no user, and with the credentials of the system numbers count anyway.
   */
  readonly identities: Identities = {
    userId: (name) => this.#users.get(withoutDomain(name)),
    groupId: (name) => this.#groups.get(withoutDomain(name)),
  };

  put({ users, groups }: NasAccounts): void {
    const members = users.filter((user) => user.groups.length > 0);
    this.#groupsOf = new Map(members.map((user) => [user.uid, user.groups]));
    this.#users = new Map(users.map(({ name, uid }) => [name, uid]));
    this.#groups = new Map(groups.map(({ name, gid }) => [name, gid]));
  }

  /** Undefined for users of whom no group is known: those groups count that the request brings. */
  groupsOf(uid: number): readonly number[] | undefined {
    return this.#groupsOf.get(uid);
  }
}

/** Version 4 has `name@domain`; which domain that is differs from client to client. */
function withoutDomain(name: string): string {
  return name.replace(/@[^@]*$/, '');
}
