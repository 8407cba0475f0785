import { flag, GB, inUnits, plain, readSetting, Table, writeSetting, type Db, type Tx } from '@granary/kernel';
import type { Pick, Stock } from './allocation.ts';
import type { Drive, NewDrive, PlacedDrive } from './drive.ts';

const drives = new Table<Drive>('drives', {
  uuid: plain('uuid'),
  type: plain('type'),
  node: plain('node'),
  zone: plain('zone'),
  capacity: inUnits('capacity_gb', GB),
  array: plain('array'),
  number: plain('number'),
  policy: plain('policy'),
  hasFile: flag('has_file'),
});

/** What the condition of a query says. */
type Place = globalThis.Pick<PlacedDrive, 'array' | 'number'>;

const FREE = { array: null, number: null, policy: null, hasFile: false };
const SELECT = `SELECT ${drives.fields()} FROM drives`;

export function listDrives(db: Db): Drive[] {
  return drives.all(db, `${SELECT} ORDER BY node, type, uuid`);
}

export function insertDrive(tx: Tx, drive: NewDrive): void {
  drives.insert(tx, { ...drive, ...FREE });
}

export function deleteFreeDrive(tx: Tx, uuid: string): void {
  tx.run('DELETE FROM drives WHERE uuid = :uuid AND array IS NULL', { uuid });
}

export function countFree(db: Db): Stock[] {
  return db.all<Stock>(
    'SELECT type, zone, node, count(*) AS count FROM drives WHERE array IS NULL GROUP BY type, zone, node',
  );
}

export function countAll(db: Db): { type: string; count: number }[] {
  return db.all('SELECT type, count(*) AS count FROM drives GROUP BY type');
}

export function countHeld(db: Db, array: number): Stock[] {
  return db.all<Stock>(
    'SELECT type, zone, node, count(*) AS count FROM drives WHERE array = :array GROUP BY type, zone, node',
    { array },
  );
}

export function listDrivesOf(db: Db, array: number): PlacedDrive[] {
  return drives.all<Place>(db, `${SELECT} WHERE array = :array ORDER BY number`, { array });
}

export function listPlacedDrives(db: Db): PlacedDrive[] {
  return drives.all<Place>(db, `${SELECT} WHERE array IS NOT NULL ORDER BY array, number`);
}

/** False when no drive was free after all. */
export function assignDrive(tx: Tx, pick: Pick, array: number, number: number): boolean {
  const { changes } = tx.run(
    `UPDATE drives SET array = :array, number = :number, policy = :policy
     WHERE uuid = (SELECT uuid FROM drives WHERE type = :type AND node = :node AND array IS NULL LIMIT 1)`,
    { array, number, type: pick.type, node: pick.node, policy: pick.policy },
  );
  return changes === 1;
}

export function markFileMade(tx: Tx, uuid: string): void {
  tx.run('UPDATE drives SET has_file = 1 WHERE uuid = :uuid AND array IS NOT NULL', { uuid });
}

/** False when the array does not have it. */
export function releaseDrive(tx: Tx, uuid: string, array: number): boolean {
  return drives.update(tx, { uuid, array }, FREE) === 1;
}

export function releaseDrivesOf(tx: Tx, array: number): number {
  return drives.update(tx, { array }, FREE);
}

export const CLOUD_UUID = 'cloud_uuid';

/** The name a cloud keeps for life. */
export function keepCloudUuid(tx: Tx, fresh: string): string {
  const known = readSetting(tx, CLOUD_UUID);
  if (known === undefined) writeSetting(tx, CLOUD_UUID, fresh);
  return known ?? fresh;
}
