import {
  flag,
  GB,
  inUnits,
  plain,
  sqlPage,
  Table,
  WHOLE,
  type Changes,
  type Db,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { Pool, PoolSample } from './pool.ts';

const pools = new Table<Pool>('pools', {
  name: plain('name'),
  displayName: plain('display_name'),
  mode: plain('mode'),
  type: plain('type'),
  capacityBytes: plain('capacity_bytes'),
  version: plain('version'),
  state: plain('state'),
  cache: flag('cache'),
  cowCache: flag('cow_cache'),
  coolOffHours: plain('cool_off_hours'),
  capacityMode: plain('capacity_mode'),
  historyMinutes: plain('capacity_history'),
  alertMinutes: plain('alert_mode'),
  protectedMinutes: plain('protected_mode'),
  emergencyBytes: inUnits('emergency_mode', GB),
  effectiveHistoryMinutes: plain('effective_capacity_history'),
  effectiveAlertMinutes: plain('effective_alert_mode'),
  effectiveProtectedMinutes: plain('effective_protected_mode'),
  effectiveEmergencyBytes: inUnits('effective_emergency_mode', GB),
  shrinkGroup: plain('shrink_group'),
  shrinkJob: plain('shrink_job'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${pools.fields()} FROM pools`;

export function insertPool(tx: Tx, pool: Pool): void {
  pools.insert(tx, pool);
}

export type PoolChange = Changes<Omit<Pool, 'name' | 'createdAt'>>;

/** What is left out stays as it is. */
export function updatePool(tx: Tx, name: string, change: PoolChange): void {
  pools.update(tx, { name }, change);
}

export function deletePool(tx: Tx, name: string): void {
  tx.run('DELETE FROM pools WHERE name = :name', { name });
}

export function findPool(db: Db, name: string): Pool | undefined {
  return pools.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function findPoolByDisplayName(db: Db, displayName: string): Pool | undefined {
  return pools.get(db, `${SELECT} WHERE display_name = :displayName`, { displayName });
}

export function listPools(db: Db, page: Page = WHOLE): Pool[] {
  return pools.all(db, `${SELECT} ORDER BY name LIMIT :limit OFFSET :start`, sqlPage(page));
}

export function countPools(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM pools')?.count ?? 0;
}

export function insertSample(tx: Tx, pool: string, sample: PoolSample): void {
  tx.run(
    `INSERT OR REPLACE INTO pool_samples (pool, taken_at, used_bytes, saved_bytes)
     VALUES (:pool, :takenAt, :usedBytes, :savedBytes)`,
    { pool, ...sample },
  );
}

export function deleteSamplesBefore(tx: Tx, pool: string, time: number): void {
  tx.run('DELETE FROM pool_samples WHERE pool = :pool AND taken_at < :time', { pool, time });
}

export function listSamples(db: Db, pool: string): PoolSample[] {
  const sql = `SELECT taken_at AS takenAt, used_bytes AS usedBytes, saved_bytes AS savedBytes
    FROM pool_samples WHERE pool = :pool ORDER BY taken_at`;
  return db.all<PoolSample>(sql, { pool });
}
