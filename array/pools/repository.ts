import type { Db, Tx } from '@granary/kernel';
import type { CapacityMode } from '@granary/storage';
import { sqlPage, WHOLE, type Page } from '../paging.ts';

/** A pool as it is on record. Booleans are 0 and 1. */
export interface PoolRow {
  readonly name: string;
  readonly display_name: string;
  readonly mode: 'simple' | 'stripe';
  readonly type: string;
  readonly capacity_bytes: number;
  readonly version: number;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly cache: number;
  readonly cow_cache: number;
  readonly cool_off_hours: number;
  readonly capacity_mode: CapacityMode;
  readonly capacity_history: number;
  readonly alert_mode: number;
  readonly protected_mode: number;
  readonly emergency_mode: number;
  readonly effective_capacity_history: number;
  readonly effective_alert_mode: number;
  readonly effective_protected_mode: number;
  readonly effective_emergency_mode: number;
  readonly shrink_group: string | null;
  readonly shrink_job: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

/** How full a pool was. */
export interface PoolSample {
  readonly taken_at: number;
  readonly used_bytes: number;
  readonly saved_bytes: number;
}

const COLUMNS = [
  'name',
  'display_name',
  'mode',
  'type',
  'capacity_bytes',
  'version',
  'state',
  'cache',
  'cow_cache',
  'cool_off_hours',
  'capacity_mode',
  'capacity_history',
  'alert_mode',
  'protected_mode',
  'emergency_mode',
  'effective_capacity_history',
  'effective_alert_mode',
  'effective_protected_mode',
  'effective_emergency_mode',
  'shrink_group',
  'shrink_job',
  'created_at',
  'modified_at',
] as const satisfies readonly (keyof PoolRow)[];

const INSERT = `INSERT INTO pools (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map((each) => `:${each}`).join(', ')})`;
const SAVE = `UPDATE pools SET ${COLUMNS.map((each) => `${each} = :${each}`).join(', ')} WHERE name = :name`;

export function insertPool(tx: Tx, row: PoolRow): void {
  tx.run(INSERT, { ...row });
}

export function savePool(tx: Tx, row: PoolRow): void {
  tx.run(SAVE, { ...row });
}

export function deletePool(tx: Tx, name: string): void {
  tx.run('DELETE FROM pools WHERE name = :name', { name });
}

export function findPool(db: Db, name: string): PoolRow | undefined {
  return db.get<PoolRow>('SELECT * FROM pools WHERE name = :name', { name });
}

export function findPoolByDisplayName(db: Db, displayName: string): PoolRow | undefined {
  return db.get<PoolRow>('SELECT * FROM pools WHERE display_name = :displayName', { displayName });
}

export function listPools(db: Db, page: Page = WHOLE): PoolRow[] {
  return db.all<PoolRow>('SELECT * FROM pools ORDER BY name LIMIT :limit OFFSET :start', sqlPage(page));
}

export function countPools(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM pools')?.count ?? 0;
}

/** What all its volumes were promised, those in the recycle bin too. */
export function provisionedBytes(db: Db, pool: string): number {
  const sql = 'SELECT coalesce(sum(size_bytes), 0) AS bytes FROM volumes WHERE pool = :pool';
  return db.get<{ bytes: number }>(sql, { pool })?.bytes ?? 0;
}

/** In whatever state: all of them lie in it. */
export function countVolumesIn(db: Db, pool: string): number {
  const sql = 'SELECT count(*) AS count FROM volumes WHERE pool = :pool';
  return db.get<{ count: number }>(sql, { pool })?.count ?? 0;
}

/** Whether a volume is on its way into the pool. */
export function isBeingMovedTo(db: Db, pool: string): boolean {
  const sql = `SELECT 1 FROM migrations_of_volumes WHERE dst_pool = :pool AND status IN ('Running', 'Paused') LIMIT 1`;
  return db.get(sql, { pool }) !== undefined;
}

export function insertSample(tx: Tx, pool: string, sample: PoolSample): void {
  tx.run(`INSERT OR REPLACE INTO pool_samples VALUES (:pool, :taken_at, :used_bytes, :saved_bytes)`, {
    pool,
    ...sample,
  });
}

export function deleteSamplesBefore(tx: Tx, pool: string, time: number): void {
  tx.run('DELETE FROM pool_samples WHERE pool = :pool AND taken_at < :time', { pool, time });
}

export function listSamples(db: Db, pool: string): PoolSample[] {
  const sql = 'SELECT taken_at, used_bytes, saved_bytes FROM pool_samples WHERE pool = :pool ORDER BY taken_at';
  return db.all<PoolSample>(sql, { pool });
}
