import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

/** A file that is or was brought back, as it is on record. */
export interface RestoreRow {
  readonly name: string;
  readonly volume: string;
  readonly snapshot: string;
  readonly path: string;
  readonly to_path: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly problem: string | null;
  readonly job: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export function insertRestore(tx: Tx, row: RestoreRow): void {
  tx.run(
    `INSERT INTO file_restores (name, volume, snapshot, path, to_path, state, problem, job, created_at, modified_at)
     VALUES (:name, :volume, :snapshot, :path, :to_path, :state, :problem, :job, :created_at, :modified_at)`,
    { ...row },
  );
}

export function endRestore(tx: Tx, name: string, problem: string | null, now: number): void {
  tx.run(
    `UPDATE file_restores SET state = :state, problem = :problem, modified_at = :now
     WHERE name = :name AND state = 'running'`,
    { name, state: problem === null ? 'done' : 'failed', problem, now },
  );
}

export function findRestore(db: Db, name: string): RestoreRow | undefined {
  return db.get<RestoreRow>('SELECT * FROM file_restores WHERE name = :name', { name });
}

/** The newest first. */
export function listRestores(db: Db, volume: string, page: Page): { restores: RestoreRow[]; count: number } {
  const of = 'FROM file_restores WHERE volume = :volume';
  return {
    restores: db.all<RestoreRow>(`SELECT * ${of} ORDER BY name DESC LIMIT :limit OFFSET :start`, {
      volume,
      ...sqlPage(page),
    }),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${of}`, { volume })?.n ?? 0,
  };
}

export function countRunning(db: Db, volume: string): number {
  const sql = `SELECT count(*) AS n FROM file_restores WHERE volume = :volume AND state = 'running'`;
  return db.get<{ n: number }>(sql, { volume })?.n ?? 0;
}

/** Of those that ended only the newest stay. */
export function forgetOld(tx: Tx, volume: string, keep: number): void {
  tx.run(
    `DELETE FROM file_restores WHERE state <> 'running' AND name IN (
       SELECT name FROM file_restores WHERE volume = :volume AND state <> 'running'
       ORDER BY name DESC LIMIT -1 OFFSET :keep)`,
    { volume, keep },
  );
}
