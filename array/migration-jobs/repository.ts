import type { Db, Tx } from '@granary/kernel';
import type { Name } from '../sequences/name.ts';

export type MigrationStatus = 'Running' | 'Paused' | 'Completed' | 'Aborted';

/** A move of a volume between pools as it is on record. */
export interface MigrationRow {
  readonly name: string;
  readonly volume: string;
  readonly volume_name: string;
  readonly src_pool_name: string;
  readonly dst_pool_name: string;
  readonly src_cg: string;
  readonly dst_cg: Name<'cg'>;
  readonly src_pool: string;
  readonly dst_pool: string;
  readonly with_snapshots: number;
  readonly status: MigrationStatus;
  readonly total_bytes: number;
  readonly copied_bytes: number;
  readonly job: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export function insertMigration(tx: Tx, row: MigrationRow): void {
  tx.run(
    `INSERT INTO migrations_of_volumes (name, volume, volume_name, src_pool_name, dst_pool_name, src_cg, dst_cg, src_pool,
       dst_pool, with_snapshots, status, total_bytes, copied_bytes, job, created_at, modified_at)
     VALUES (:name, :volume, :volume_name, :src_pool_name, :dst_pool_name, :src_cg, :dst_cg, :src_pool,
       :dst_pool, :with_snapshots, :status, :total_bytes, :copied_bytes, :job, :created_at, :modified_at)`,
    { ...row },
  );
}

export function findMigration(db: Db, name: string): MigrationRow | undefined {
  return db.get<MigrationRow>('SELECT * FROM migrations_of_volumes WHERE name = :name', { name });
}

/** By the name its group had before or gets after; of several the newest. */
export function findMigrationOfGroup(db: Db, group: string): MigrationRow | undefined {
  return db.get<MigrationRow>(
    `SELECT * FROM (SELECT * FROM migrations_of_volumes WHERE src_cg = :group
       UNION SELECT * FROM migrations_of_volumes WHERE dst_cg = :group)
     ORDER BY created_at DESC, name DESC LIMIT 1`,
    { group },
  );
}

export function countRunning(db: Db): number {
  const sql = `SELECT count(*) AS n FROM migrations_of_volumes WHERE status = 'Running'`;
  return db.get<{ n: number }>(sql)?.n ?? 0;
}

interface MigrationChange {
  readonly status: MigrationStatus;
  readonly totalBytes?: number;
  readonly copiedBytes?: number;
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
