import { flag, json, plain, sqlPage, Table, WHOLE, type Changes, type Db, type Page, type Tx } from '@granary/kernel';
import type { DriveRecord } from './record.ts';

const drives = new Table<DriveRecord>('drives', {
  name: plain('name'),
  displayName: plain('display_name'),
  uuid: plain('uuid'),
  placed: json('placed'),
  raidGroup: plain('raid_group'),
  role: plain('role'),
  isOffline: flag('is_offline'),
  isFailed: flag('is_failed'),
  isLeaving: flag('is_leaving'),
  shredJob: plain('shred_job'),
  replaces: plain('replaces'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${drives.fields()} FROM drives`;

export function listDrives(db: Db, page: Page = WHOLE): DriveRecord[] {
  return drives.all(db, `${SELECT} ORDER BY name LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countDrives(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM drives')?.count ?? 0;
}

export function listFreeDrives(db: Db, page: Page): DriveRecord[] {
  return drives.all(db, `${SELECT} WHERE raid_group IS NULL ORDER BY name LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countFreeDrives(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM drives WHERE raid_group IS NULL')?.count ?? 0;
}

/** Members first. */
export function drivesOfGroup(db: Db, group: string, page: Page = WHOLE): DriveRecord[] {
  const sql = `${SELECT} WHERE raid_group = :group ORDER BY role, name LIMIT :limit OFFSET :start`;
  return drives.all(db, sql, { group, ...sqlPage(page) });
}

export function countDrivesOfGroup(db: Db, group: string): number {
  const sql = 'SELECT count(*) AS count FROM drives WHERE raid_group = :group';
  return db.get<{ count: number }>(sql, { group })?.count ?? 0;
}

export function findDrive(db: Db, name: string): DriveRecord | undefined {
  return drives.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function findDriveByUuid(db: Db, uuid: string): DriveRecord | undefined {
  return drives.get(db, `${SELECT} WHERE uuid = :uuid`, { uuid });
}

export function isDisplayNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM drives WHERE display_name = :displayName LIMIT 1';
  return db.get(sql, { displayName }) !== undefined;
}

type NewDrive = Pick<DriveRecord, 'name' | 'displayName' | 'uuid' | 'placed' | 'createdAt'>;

export function insertDrive(tx: Tx, drive: NewDrive): void {
  drives.insert(tx, {
    ...drive,
    raidGroup: null,
    role: null,
    isOffline: false,
    isFailed: false,
    isLeaving: false,
    shredJob: null,
    replaces: null,
    modifiedAt: drive.createdAt,
  });
}

export function deleteDrive(tx: Tx, name: string): void {
  tx.run('DELETE FROM drives WHERE name = :name', { name });
}

export function setPlaced(tx: Tx, name: string, placed: DriveRecord['placed']): void {
  drives.update(tx, { name }, { placed });
}

type DriveChange = Changes<
  Pick<DriveRecord, 'displayName' | 'isOffline' | 'isFailed' | 'isLeaving' | 'shredJob' | 'replaces'>
>;

export function updateDrive(tx: Tx, name: string, change: DriveChange, now: number): void {
  drives.update(tx, { name }, { ...change, modifiedAt: now });
}

export function joinGroup(tx: Tx, name: string, group: string, role: 'member' | 'spare', now: number): void {
  drives.update(tx, { name }, { raidGroup: group, role, modifiedAt: now });
}

export function leaveGroup(tx: Tx, name: string, now: number): void {
  drives.update(tx, { name }, { raidGroup: null, role: null, replaces: null, modifiedAt: now });
}

export function freeDrivesOf(tx: Tx, group: string, now: number): void {
  drives.update(tx, { raidGroup: group }, { raidGroup: null, role: null, replaces: null, modifiedAt: now });
}
