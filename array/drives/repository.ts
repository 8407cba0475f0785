import type { Db, Tx } from '@granary/kernel';
import { sqlPage, WHOLE, type Page } from '../paging.ts';

/** A drive as it is on record. Booleans are 0 and 1. */
export interface DriveRow {
  readonly name: string;
  readonly display_name: string;
  readonly uuid: string;
  /** What the cloud last told of it, as JSON. */
  readonly placed: string;
  readonly raid_group: string | null;
  readonly role: 'member' | 'spare' | null;
  /** Taken out of service by an administrator. */
  readonly is_offline: number;
  readonly is_failed: number;
  readonly is_leaving: number;
  readonly shred_job: number | null;
  readonly replaces: string | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export function listDrives(db: Db, page: Page = WHOLE): DriveRow[] {
  return db.all<DriveRow>('SELECT * FROM drives ORDER BY name LIMIT :limit OFFSET :start', sqlPage(page));
}

export function countDrives(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM drives')?.count ?? 0;
}

export function listFreeDrives(db: Db, page: Page): DriveRow[] {
  const sql = 'SELECT * FROM drives WHERE raid_group IS NULL ORDER BY name LIMIT :limit OFFSET :start';
  return db.all<DriveRow>(sql, sqlPage(page));
}

export function countFreeDrives(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM drives WHERE raid_group IS NULL')?.count ?? 0;
}

/** Members first. */
export function drivesOfGroup(db: Db, group: string, page: Page = WHOLE): DriveRow[] {
  const sql = 'SELECT * FROM drives WHERE raid_group = :group ORDER BY role, name LIMIT :limit OFFSET :start';
  return db.all<DriveRow>(sql, { group, ...sqlPage(page) });
}

export function countDrivesOfGroup(db: Db, group: string): number {
  const sql = 'SELECT count(*) AS count FROM drives WHERE raid_group = :group';
  return db.get<{ count: number }>(sql, { group })?.count ?? 0;
}

export function findDrive(db: Db, name: string): DriveRow | undefined {
  return db.get<DriveRow>('SELECT * FROM drives WHERE name = :name', { name });
}

export function findDriveByUuid(db: Db, uuid: string): DriveRow | undefined {
  return db.get<DriveRow>('SELECT * FROM drives WHERE uuid = :uuid', { uuid });
}

export function isDisplayNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM drives WHERE display_name = :displayName LIMIT 1';
  return db.get(sql, { displayName }) !== undefined;
}

type NewDrive = Pick<DriveRow, 'name' | 'display_name' | 'uuid' | 'placed' | 'created_at'>;

export function insertDrive(tx: Tx, drive: NewDrive): void {
  tx.run(
    `INSERT INTO drives (name, display_name, uuid, placed, created_at, modified_at)
     VALUES (:name, :display_name, :uuid, :placed, :created_at, :created_at)`,
    { ...drive },
  );
}

export function deleteDrive(tx: Tx, name: string): void {
  tx.run('DELETE FROM drives WHERE name = :name', { name });
}

export function setPlaced(tx: Tx, name: string, placed: string): void {
  tx.run('UPDATE drives SET placed = :placed WHERE name = :name', { name, placed });
}

type DriveChanges = Partial<
  Pick<DriveRow, 'display_name' | 'is_offline' | 'is_failed' | 'is_leaving' | 'shred_job' | 'replaces'>
>;

const CHANGEABLE = ['display_name', 'is_offline', 'is_failed', 'is_leaving', 'shred_job', 'replaces'] as const;

export function updateDrive(tx: Tx, name: string, changes: DriveChanges, now: number): void {
  const columns = CHANGEABLE.filter((column) => changes[column] !== undefined);
  const set = columns.map((column) => `${column} = :${column}`);
  tx.run(`UPDATE drives SET ${[...set, 'modified_at = :now'].join(', ')} WHERE name = :name`, {
    ...Object.fromEntries(columns.map((column) => [column, changes[column] ?? null])),
    name,
    now,
  });
}

export function joinGroup(tx: Tx, name: string, group: string, role: 'member' | 'spare', now: number): void {
  tx.run('UPDATE drives SET raid_group = :group, role = :role, modified_at = :now WHERE name = :name', {
    name,
    group,
    role,
    now,
  });
}

export function leaveGroup(tx: Tx, name: string, now: number): void {
  const sql = `UPDATE drives SET raid_group = NULL, role = NULL, replaces = NULL, modified_at = :now
               WHERE name = :name`;
  tx.run(sql, { name, now });
}

export function freeDrivesOf(tx: Tx, group: string, now: number): void {
  const sql = `UPDATE drives SET raid_group = NULL, role = NULL, replaces = NULL, modified_at = :now
               WHERE raid_group = :group`;
  tx.run(sql, { group, now });
}
