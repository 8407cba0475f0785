import { readSetting, writeSetting, type Db, type Tx } from '@granary/kernel';
import type { Pick, Stock } from './allocation.ts';

export interface DriveRow {
  readonly uuid: string;
  readonly type: string;
  readonly node: string;
  readonly zone: string;
  readonly capacity_gb: number;
  readonly array: number | null;
  readonly number: number | null;
  readonly policy: string | null;
  readonly has_file: number;
}

/** A drive some array has. */
export interface PlacedDriveRow extends DriveRow {
  readonly array: number;
  readonly number: number;
}

export type NewDrive = globalThis.Pick<DriveRow, 'uuid' | 'type' | 'node' | 'zone' | 'capacity_gb'>;

export function listDrives(db: Db): DriveRow[] {
  return db.all<DriveRow>('SELECT * FROM drives ORDER BY node, type, uuid');
}

export function insertDrive(tx: Tx, drive: NewDrive): void {
  tx.run('INSERT INTO drives (uuid, type, node, zone, capacity_gb) VALUES (:uuid, :type, :node, :zone, :capacity_gb)', {
    ...drive,
  });
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

export function listDrivesOf(db: Db, array: number): PlacedDriveRow[] {
  return db.all<PlacedDriveRow>('SELECT * FROM drives WHERE array = :array ORDER BY number', { array });
}

export function listPlacedDrives(db: Db): PlacedDriveRow[] {
  return db.all<PlacedDriveRow>('SELECT * FROM drives WHERE array IS NOT NULL ORDER BY array, number');
}

/** False when no drive was free after all. */
export function takeDrive(tx: Tx, pick: Pick, array: number, number: number): boolean {
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
  const { changes } = tx.run(
    'UPDATE drives SET array = NULL, number = NULL, policy = NULL, has_file = 0 WHERE uuid = :uuid AND array = :array',
    { uuid, array },
  );
  return changes === 1;
}

export function releaseDrivesOf(tx: Tx, array: number): number {
  return tx.run('UPDATE drives SET array = NULL, number = NULL, policy = NULL, has_file = 0 WHERE array = :array', {
    array,
  }).changes;
}

export const CLOUD_UUID = 'cloud_uuid';

/** The name a cloud keeps for life. */
export function keepCloudUuid(tx: Tx, fresh: string): string {
  const known = readSetting(tx, CLOUD_UUID);
  if (known === undefined) writeSetting(tx, CLOUD_UUID, fresh);
  return known ?? fresh;
}
