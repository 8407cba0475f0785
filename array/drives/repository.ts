import type { Db, Tx } from '@granary/kernel';

export interface DriveRow {
  readonly name: string;
  readonly display_name: string;
  readonly uuid: string;
  readonly created_at: number;
  readonly modified_at: number;
}

export function listDrives(db: Db, start = 0, limit = 0): DriveRow[] {
  return db.all<DriveRow>('SELECT * FROM drives ORDER BY name LIMIT :limit OFFSET :start', {
    start,
    limit: limit === 0 ? -1 : limit,
  });
}

export function countDrives(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM drives')?.count ?? 0;
}

export function findDrive(db: Db, name: string): DriveRow | undefined {
  return db.get<DriveRow>('SELECT * FROM drives WHERE name = :name', { name });
}

export function insertDrive(tx: Tx, { name, uuid, now }: { name: string; uuid: string; now: number }): void {
  tx.run('INSERT INTO drives VALUES (:name, :name, :uuid, :now, :now)', { name, uuid, now });
}

export function deleteDrive(tx: Tx, name: string): void {
  tx.run('DELETE FROM drives WHERE name = :name', { name });
}
