import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

/** A user of shares as it is on record. The password is sealed. */
export interface NasUserRow {
  readonly name: string;
  readonly uid: number | null;
  readonly password: string | null;
  readonly group_name: string | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export interface NasUser extends NasUserRow {
  /** Beyond the primary group, in the order of their names. */
  readonly groups: readonly string[];
}

/** Booleans are 0 and 1. */
export interface NasGroupRow {
  readonly name: string;
  readonly gid: number | null;
  readonly is_smb: number;
  readonly created_at: number;
  readonly modified_at: number;
}

interface ListedUser extends NasUserRow {
  readonly group_list: string;
}

const USERS = `SELECT u.*,
    (SELECT json_group_array(m.group_name ORDER BY m.group_name) FROM nas_members AS m WHERE m.user_name = u.name)
      AS group_list
  FROM nas_users AS u`;

export function insertNasUser(tx: Tx, row: NasUserRow): void {
  tx.run(
    `INSERT INTO nas_users (name, uid, password, group_name, created_at, modified_at)
     VALUES (:name, :uid, :password, :group_name, :created_at, :modified_at)`,
    { ...row },
  );
}

export function updateNasUser(tx: Tx, row: Omit<NasUserRow, 'created_at'>): void {
  const { name, uid, password, group_name, modified_at } = row;
  tx.run(
    `UPDATE nas_users SET uid = :uid, password = :password, group_name = :group_name, modified_at = :modified_at
     WHERE name = :name`,
    { name, uid, password, group_name, modified_at },
  );
}

export function deleteNasUser(tx: Tx, name: string): void {
  tx.run('DELETE FROM nas_users WHERE name = :name', { name });
}

/** Exactly these beyond the primary one. */
export function setMemberships(tx: Tx, user: string, groups: readonly string[]): void {
  tx.run('DELETE FROM nas_members WHERE user_name = :user', { user });
  for (const group of groups)
    tx.run('INSERT OR IGNORE INTO nas_members (user_name, group_name) VALUES (:user, :group)', { user, group });
}

export function findNasUser(db: Db, name: string): NasUser | undefined {
  return withGroups(db.get<ListedUser>(`${USERS} WHERE u.name = :name`, { name }));
}

export function findNasUserByUid(db: Db, uid: number): NasUserRow | undefined {
  return db.get<NasUserRow>('SELECT * FROM nas_users WHERE uid = :uid', { uid });
}

export function listNasUsers(db: Db, page: Page): NasUser[] {
  return db
    .all<ListedUser>(`${USERS} ORDER BY u.name LIMIT :limit OFFSET :start`, { ...sqlPage(page) })
    .flatMap((row) => withGroups(row) ?? []);
}

export function countNasUsers(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM nas_users')?.n ?? 0;
}

export function insertNasGroup(tx: Tx, row: NasGroupRow): void {
  tx.run(
    `INSERT INTO nas_groups (name, gid, is_smb, created_at, modified_at)
     VALUES (:name, :gid, :is_smb, :created_at, :modified_at)`,
    { ...row },
  );
}

export function deleteNasGroup(tx: Tx, name: string): void {
  tx.run('DELETE FROM nas_groups WHERE name = :name', { name });
}

export function findNasGroup(db: Db, name: string): NasGroupRow | undefined {
  return db.get<NasGroupRow>('SELECT * FROM nas_groups WHERE name = :name', { name });
}

export function findNasGroupByGid(db: Db, gid: number): NasGroupRow | undefined {
  return db.get<NasGroupRow>('SELECT * FROM nas_groups WHERE gid = :gid', { gid });
}

export function listNasGroups(db: Db, page: Page): NasGroupRow[] {
  return db.all<NasGroupRow>('SELECT * FROM nas_groups ORDER BY name LIMIT :limit OFFSET :start', { ...sqlPage(page) });
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

export type AccountKind = 'user' | 'group';

const NUMBERED = {
  user: 'SELECT name, uid AS number FROM nas_users WHERE uid IS NOT NULL',
  group: 'SELECT name, gid AS number FROM nas_groups WHERE gid IS NOT NULL',
} as const;

export interface NumberedName {
  readonly name: string;
  readonly number: number;
}

export function listNumbered(db: Db, kind: AccountKind): NumberedName[] {
  return db.all<NumberedName>(NUMBERED[kind]);
}

function withGroups(row: ListedUser | undefined): NasUser | undefined {
  if (!row) return undefined;
  const { group_list: groups, ...user } = row;
  return { ...user, groups: JSON.parse(groups) as string[] };
}
