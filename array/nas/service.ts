import { badParameter, fail, WHOLE, type Db, type Page, type Tx } from '@granary/kernel';
import { Deliveries } from '../deliveries.ts';
import type { NasAccounts } from '../engine/shares.ts';
import type { ArrayTools } from '../tools.ts';
import { listed } from '../wording.ts';
import {
  countNasGroups,
  countNasUsers,
  deleteNasGroup,
  deleteNasUser,
  findNasGroup,
  findNasGroupByGid,
  findNasUser,
  findNasUserByUid,
  insertNasGroup,
  insertNasUser,
  listNasGroups,
  listNasUsers,
  listNumbered,
  setMemberships,
  updateNasUser,
  usersOfGroup,
} from './repository.ts';
import type { AccountKind, NasGroup, NasUser, NumberedName } from './account.ts';

export interface NasUserRequest {
  readonly username: string;
  readonly nfsUid?: number | undefined;
  readonly password?: string | undefined;
  /** The primary one. */
  readonly group?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}

export interface NasGroupRequest {
  readonly name: string;
  readonly nfsGid?: number | undefined;
  readonly smb: boolean;
}

/** All accounts are sent to the engine as one list. */
const ACCOUNTS = 'accounts';
const ACCOUNTS_MAX = 10_000;
const GROUPS_OF_USER_MAX = 1_000;
const USERS_NAMED_MAX = 5;

/** Users and groups that shares know by name. Files and quotas know them by number, and keep it when they are deleted. */
export class NasService {
  readonly #tools: ArrayTools;
  readonly #deliveries: Deliveries;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
    const send = () => tools.engine.putNasAccounts(tools.store.read(accountsOf));
    this.#deliveries = new Deliveries(tools, { send, what: 'the NAS users and groups' });
  }

  /** Before requests are served: the engine does not keep accounts. */
  reconcile(): Promise<void> {
    return this.#deliveries.pushAll([ACCOUNTS]);
  }

  startWatching(): void {
    this.#tools.readings.onReading(() => this.#deliveries.catchUp());
  }

  listUsers(page: Page): { users: NasUser[]; count: number } {
    return this.#tools.store.read((db) => ({ users: listNasUsers(db, page), count: countNasUsers(db) }));
  }

  listGroups(page: Page): { groups: NasGroup[]; count: number } {
    return this.#tools.store.read((db) => ({ groups: listNasGroups(db, page), count: countNasGroups(db) }));
  }

  /** All that have a number. */
  numbered(kind: AccountKind): NumberedName[] {
    return this.#tools.store.read((db) => listNumbered(db, kind));
  }

  /** Not found, or without a number: undefined. */
  numberOf(kind: AccountKind, name: string): number | undefined {
    const found = this.#tools.store.read((db) =>
      kind === 'user' ? findNasUser(db, name)?.uid : findNasGroup(db, name)?.gid,
    );
    return found ?? undefined;
  }

  async createUser(wanted: NasUserRequest, actor: string): Promise<NasUser> {
    const { store, clock, vault } = this.#tools;
    if (wanted.nfsUid === undefined && wanted.password === undefined)
      throw badParameter('nfs_uid', 'or password must be sent: the first for NFS, the second for SMB');
    const user = await store.write((tx) => {
      if (findNasUser(tx, wanted.username)) throw fail('name_taken', { name: wanted.username });
      refuseTooMany('users', countNasUsers(tx));
      checkUid(tx, wanted.username, wanted.nfsUid);
      const now = clock.now();
      insertNasUser(tx, {
        name: wanted.username,
        uid: wanted.nfsUid ?? null,
        password: wanted.password === undefined ? null : vault.seal(wanted.password),
        primaryGroup: groupNamed(tx, 'groupname', wanted.group) ?? null,
        createdAt: now,
        modifiedAt: now,
      });
      setMemberships(tx, wanted.username, groupsNamed(tx, wanted.groups ?? []));
      this.#record(tx, 'user', wanted.username, 'was created', actor);
      return existingUser(tx, wanted.username);
    });
    await this.#push();
    return user;
  }

  /** What is not there stays as it is. */
  async updateUser(change: NasUserRequest, actor: string): Promise<NasUser> {
    const { store, clock, vault } = this.#tools;
    const user = await store.write((tx) => {
      const before = existingUser(tx, change.username);
      checkUid(tx, before.name, change.nfsUid);
      updateNasUser(tx, {
        name: before.name,
        uid: change.nfsUid ?? before.uid,
        password: change.password === undefined ? before.password : vault.seal(change.password),
        primaryGroup: groupNamed(tx, 'groupname', change.group) ?? before.primaryGroup,
        modifiedAt: clock.now(),
      });
      if (change.groups) setMemberships(tx, before.name, groupsNamed(tx, change.groups));
      this.#record(tx, 'user', before.name, `was changed: ${changesIn(change)}`, actor);
      return existingUser(tx, before.name);
    });
    await this.#push();
    return user;
  }

  async deleteUser(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const user = existingUser(tx, name);
      deleteNasUser(tx, user.name);
      this.#record(tx, 'user', user.name, 'was deleted', actor);
    });
    await this.#push();
  }

  async createGroup({ name, nfsGid, smb }: NasGroupRequest, actor: string): Promise<NasGroup> {
    const { store, clock } = this.#tools;
    if (nfsGid === undefined && !smb)
      throw badParameter('nfs_gid', 'or smb=YES must be sent: the first for NFS, the second for SMB');
    const group = await store.write((tx) => {
      if (findNasGroup(tx, name)) throw fail('name_taken', { name });
      refuseTooMany('groups', countNasGroups(tx));
      const other = nfsGid === undefined ? undefined : findNasGroupByGid(tx, nfsGid);
      if (other) throw numberTaken('nfs_gid', nfsGid, `group ${other.name}`);
      const now = clock.now();
      const group = { name, gid: nfsGid ?? null, isSmb: smb, createdAt: now, modifiedAt: now };
      insertNasGroup(tx, group);
      this.#record(tx, 'group', name, 'was created', actor);
      return group;
    });
    await this.#push();
    return group;
  }

  async deleteGroup(name: string, actor: string): Promise<void> {
    await this.#tools.store.write((tx) => {
      const group = findNasGroup(tx, name);
      if (!group) throw fail('nas_group_not_found', { id: name });
      const users = usersOfGroup(tx, name, USERS_NAMED_MAX + 1);
      if (users.length > 0) throw fail('nas_group_in_use', { group: group.name, members: membersNamed(users) });
      deleteNasGroup(tx, name);
      this.#record(tx, 'group', group.name, 'was deleted', actor);
    });
    await this.#push();
  }

  /** Resolves when the engine knows all of them as they are on record. */
  #push(): Promise<void> {
    return this.#deliveries.push(ACCOUNTS);
  }

  #record(tx: Tx, kind: AccountKind, name: string, what: string, actor: string): void {
    this.#tools.events.record(tx, { title: `NAS ${kind} ${name} ${what}.`, subject: `nas_${kind}:${name}`, actor });
  }
}

function accountsOf(db: Db): NasAccounts {
  const groups = new Map(listNumbered(db, 'group').map(({ name, number }) => [name, number]));
  const gidsOf = ({ primaryGroup: primary, groups: others }: NasUser) =>
    [...(primary === null ? [] : [primary]), ...others].flatMap((name) => groups.get(name) ?? []);
  return {
    users: listNasUsers(db, WHOLE).flatMap((user) =>
      user.uid === null ? [] : [{ name: user.name, uid: user.uid, groups: [...new Set(gidsOf(user))] }],
    ),
    groups: [...groups].map(([name, gid]) => ({ name, gid })),
  };
}

function existingUser(db: Db, name: string): NasUser {
  const user = findNasUser(db, name);
  if (!user) throw fail('user_not_found', { id: name });
  return user;
}

/** As it is spelt on record. */
function groupNamed(db: Db, field: string, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const group = findNasGroup(db, name);
  if (!group) throw badParameter(field, `names ${name}, which is no NAS group; create it first`);
  return group.name;
}

function groupsNamed(db: Db, names: readonly string[]): string[] {
  if (names.length > GROUPS_OF_USER_MAX) throw badParameter('groups', `must be at most ${GROUPS_OF_USER_MAX}`);
  return names.flatMap((name) => groupNamed(db, 'groups', name) ?? []);
}

function checkUid(db: Db, name: string, uid: number | undefined): void {
  const other = uid === undefined ? undefined : findNasUserByUid(db, uid);
  if (other && other.name !== name) throw numberTaken('nfs_uid', uid, `user ${other.name}`);
}

function numberTaken(field: string, number: number | undefined, by: string) {
  return fail('nas_number_taken', { field, number: number ?? '', by });
}

function refuseTooMany(what: string, count: number): void {
  if (count < ACCOUNTS_MAX) return;
  throw fail('nas_accounts_limit', { max: ACCOUNTS_MAX, what });
}

function membersNamed(users: readonly string[]): string {
  const named = users.slice(0, USERS_NAMED_MAX);
  return `${listed(named)}${users.length > named.length ? ' and others' : ''}`;
}

function changesIn({ nfsUid, password, group, groups }: NasUserRequest): string {
  const what = [
    nfsUid !== undefined && 'number',
    password !== undefined && 'password',
    group !== undefined && 'primary group',
    groups !== undefined && 'groups',
  ];
  return what.filter((one) => one !== false).join(', ') || 'nothing';
}
