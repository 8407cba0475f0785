import { flag, plain, Table, type Bytes, type Db, type Tx } from '@granary/kernel';
import type { Migration, MigrationStatus } from './migration.ts';

const migrations = new Table<Migration>('migrations_of_volumes', {
  name: plain('name'),
  volume: plain('volume'),
  volumeName: plain('volume_name'),
  sourcePoolName: plain('src_pool_name'),
  destinationPoolName: plain('dst_pool_name'),
  sourceGroup: plain('src_cg'),
  destinationGroup: plain('dst_cg'),
  sourcePool: plain('src_pool'),
  destinationPool: plain('dst_pool'),
  withSnapshots: flag('with_snapshots'),
  status: plain('status'),
  totalBytes: plain('total_bytes'),
  copiedBytes: plain('copied_bytes'),
  workingSnapshot: plain('working_snapshot'),
  job: plain('job'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

export function insertMigration(tx: Tx, migration: Migration): void {
  migrations.insert(tx, migration);
}

export function findMigration(db: Db, name: string): Migration | undefined {
  const sql = `SELECT ${migrations.fields()} FROM migrations_of_volumes WHERE name = :name`;
  return migrations.get(db, sql, { name });
}

/** By the name its group had before or gets after; of several the newest. */
export function findMigrationOfGroup(db: Db, group: string): Migration | undefined {
  return migrations.get(
    db,
    `SELECT ${migrations.fields('m')} FROM (SELECT * FROM migrations_of_volumes WHERE src_cg = :group
       UNION SELECT * FROM migrations_of_volumes WHERE dst_cg = :group) AS m
     ORDER BY created_at DESC, name DESC LIMIT 1`,
    { group },
  );
}

/** The volumes of all migrations with that name, or of a consistency group with that name before or after. */
export function listMigratedVolumes(db: Db, name: string): string[] {
  const sql = `SELECT volume FROM migrations_of_volumes WHERE src_cg = :name OR dst_cg = :name OR name = :name`;
  return db.all<{ volume: string }>(sql, { name }).map(({ volume }) => volume);
}

/** Those that are moved or wait for their turn, in the order they were asked for. */
export function listRunning(db: Db): string[] {
  const sql = `SELECT name FROM migrations_of_volumes WHERE status = 'Running' ORDER BY job`;
  return db.all<{ name: string }>(sql).map(({ name }) => name);
}

/** Whether a volume is on its way into the pool. */
export function isMigrationTarget(db: Db, pool: string): boolean {
  const sql = `SELECT 1 FROM migrations_of_volumes WHERE dst_pool = :pool AND status IN ('Running', 'Paused') LIMIT 1`;
  return db.get(sql, { pool }) !== undefined;
}

interface MigrationChange {
  readonly status: MigrationStatus;
  readonly totalBytes?: Bytes;
  readonly copiedBytes?: Bytes;
  readonly job?: number;
  readonly now: number;
}

/** False when it has ended already. */
export function changeMigration(
  tx: Tx,
  name: string,
  { status, totalBytes, copiedBytes, job, now }: MigrationChange,
): boolean {
  return (
    tx.run(
      `UPDATE migrations_of_volumes SET status = :status, total_bytes = coalesce(:totalBytes, total_bytes),
         copied_bytes = coalesce(:copiedBytes, copied_bytes), job = coalesce(:job, job), modified_at = :now
       WHERE name = :name AND status IN ('Running', 'Paused')`,
      { name, status, totalBytes: totalBytes ?? null, copiedBytes: copiedBytes ?? null, job: job ?? null, now },
    ).changes === 1
  );
}
