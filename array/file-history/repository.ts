import { plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { FileRestore } from './restore.ts';

const restores = new Table<FileRestore>('file_restores', {
  name: plain('name'),
  volume: plain('volume'),
  snapshot: plain('snapshot'),
  path: plain('path'),
  toPath: plain('to_path'),
  state: plain('state'),
  problem: plain('problem'),
  job: plain('job'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

export function insertRestore(tx: Tx, restore: FileRestore): void {
  restores.insert(tx, restore);
}

export function endRestore(tx: Tx, name: string, problem: string | null, now: number): void {
  const state = problem === null ? 'done' : 'failed';
  restores.update(tx, { name, state: 'running' }, { state, problem, modifiedAt: now });
}

export function findRestore(db: Db, name: string): FileRestore | undefined {
  return restores.get(db, `SELECT ${restores.fields()} FROM file_restores WHERE name = :name`, { name });
}

/** The newest first. */
export function listRestores(db: Db, volume: string, page: Page): { restores: FileRestore[]; count: number } {
  const of = 'FROM file_restores WHERE volume = :volume';
  return {
    restores: restores.all(db, `SELECT ${restores.fields()} ${of} ORDER BY name DESC LIMIT :limit OFFSET :start`, {
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
export function removeOld(tx: Tx, volume: string, keep: number): void {
  tx.run(
    `DELETE FROM file_restores WHERE state <> 'running' AND name IN (
       SELECT name FROM file_restores WHERE volume = :volume AND state <> 'running'
       ORDER BY name DESC LIMIT -1 OFFSET :keep)`,
    { volume, keep },
  );
}
