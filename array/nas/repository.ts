import { flag, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { AccountKind, NasAccount, NasGroup, NasUser, NumberedName } from './account.ts';

const accounts = new Table<NasAccount>('nas_users', {
  name: plain('name'),
  uid: plain('uid'),
  password: plain('password'),
  primaryGroup: plain('group_name'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const groups = new Table<NasGroup>('nas_groups', {
  name: plain('name'),
  gid: plain('gid'),
  isSmb: flag('is_smb'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const GROUPS = `SELECT ${groups.fields()} FROM nas_groups`;

interface Memberships {
  /** JSON. */
  readonly groupList: string;
}

const USERS = `SELECT ${accounts.fields('u')},
    (SELECT json_group_array(m.group_name ORDER BY m.group_name) FROM nas_members AS m WHERE m.user_name = u.name)
      AS groupList
  FROM nas_users AS u`;

export function insertNasUser(tx: Tx, account: NasAccount): void {
  accounts.insert(tx, account);
}

export function updateNasUser(tx: Tx, { name, ...change }: Omit<NasAccount, 'createdAt'>): void {
  accounts.update(tx, { name }, change);
}

export function deleteNasUser(tx: Tx, name: string): void {
  tx.run('DELETE FROM nas_users WHERE name = :name', { name });
}

/** Exactly these beyond the primary one. */
export function setMemberships(tx: Tx, user: string, names: readonly string[]): void {
  tx.run('DELETE FROM nas_members WHERE user_name = :user', { user });
  for (const group of names)
    tx.run('INSERT OR IGNORE INTO nas_members (user_name, group_name) VALUES (:user, :group)', { user, group });
}

export function findNasUser(db: Db, name: string): NasUser | undefined {
  return withGroups(accounts.get<Memberships>(db, `${USERS} WHERE u.name = :name`, { name }));
}

export function findNasUserByUid(db: Db, uid: number): NasAccount | undefined {
  return accounts.get(db, `SELECT ${accounts.fields()} FROM nas_users WHERE uid = :uid`, { uid });
}

export function listNasUsers(db: Db, page: Page): NasUser[] {
  return accounts
    .all<Memberships>(db, `${USERS} ORDER BY u.name LIMIT :limit OFFSET :start`, sqlPage(page))
    .flatMap((row) => withGroups(row) ?? []);
}

export function countNasUsers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM nas_users')?.n ?? 0;
}

export function insertNasGroup(tx: Tx, group: NasGroup): void {
  groups.insert(tx, group);
}

export function deleteNasGroup(tx: Tx, name: string): void {
  tx.run('DELETE FROM nas_groups WHERE name = :name', { name });
}

export function findNasGroup(db: Db, name: string): NasGroup | undefined {
  return groups.get(db, `${GROUPS} WHERE name = :name`, { name });
}

export function findNasGroupByGid(db: Db, gid: number): NasGroup | undefined {
  return groups.get(db, `${GROUPS} WHERE gid = :gid`, { gid });
}

export function listNasGroups(db: Db, page: Page): NasGroup[] {
  return groups.all(db, `${GROUPS} ORDER BY name LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countNasGroups(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM nas_groups')?.n ?? 0;
}

/** Those it is the primary group of, and its other members. */
export function usersOfGroup(db: Db, group: string, limit: number): string[] {
  return db
    .all<{ name: string }>(
      `SELECT name FROM nas_users WHERE group_name = :group
       UNION SELECT user_name AS name FROM nas_members WHERE group_name = :group
       ORDER BY name LIMIT :limit`,
      { group, limit },
    )
    .map(({ name }) => name);
}

const NUMBERED = {
  user: 'SELECT name, uid AS number FROM nas_users WHERE uid IS NOT NULL',
  group: 'SELECT name, gid AS number FROM nas_groups WHERE gid IS NOT NULL',
} as const;

export function listNumbered(db: Db, kind: AccountKind): NumberedName[] {
  return db.all<NumberedName>(NUMBERED[kind]);
}

function withGroups(found: (NasAccount & Memberships) | undefined): NasUser | undefined {
  if (!found) return undefined;
  const { groupList, ...account } = found;
  return { ...account, groups: JSON.parse(groupList) as string[] };
}
