import type { Db, Tx } from '@granary/kernel';
import { sqlPage, WHOLE, type Page } from '../paging.ts';
import type { GroupShare } from './room.ts';

/** A RAID group as it is on record. Booleans are 0 and 1. */
export interface RaidGroupRow {
  readonly name: string;
  readonly number: number;
  readonly display_name: string;
  readonly protection: 'RAID1' | 'RAID6';
  readonly width: number;
  readonly stripe_kb: number;
  readonly capacity_bytes: number;
  /** What each drive of it needs to have. */
  readonly member_gb: number;
  readonly is_ssd: number;
  readonly pool: string | null;
  /** How much of it the pool uses. */
  readonly pool_bytes: number;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly mismatches: number;
  readonly min_resync_mb: number;
  readonly max_resync_mb: number;
  readonly scrub_job: number | null;
  readonly scrub_position: number;
  readonly created_at: number;
  readonly modified_at: number;
}

export function listRaidGroups(db: Db, page: Page): RaidGroupRow[] {
  const sql = `SELECT * FROM raid_groups WHERE state = 'ready' ORDER BY number LIMIT :limit OFFSET :start`;
  return db.all<RaidGroupRow>(sql, sqlPage(page));
}

export function countRaidGroups(db: Db): number {
  return count(db, `SELECT count(*) AS count FROM raid_groups WHERE state = 'ready'`);
}

/** Those that are being made or deleted, too. */
export function allRaidGroups(db: Db): RaidGroupRow[] {
  return db.all<RaidGroupRow>('SELECT * FROM raid_groups ORDER BY number');
}

export function listFreeRaidGroups(db: Db, page: Page): RaidGroupRow[] {
  const sql = `SELECT * FROM raid_groups WHERE pool IS NULL AND state = 'ready'
               ORDER BY number LIMIT :limit OFFSET :start`;
  return db.all<RaidGroupRow>(sql, sqlPage(page));
}

export function countFreeRaidGroups(db: Db): number {
  return count(db, `SELECT count(*) AS count FROM raid_groups WHERE pool IS NULL AND state = 'ready'`);
}

/** In the order they were made. */
export function raidGroupsOfPool(db: Db, pool: string, page: Page = WHOLE): RaidGroupRow[] {
  const sql = `SELECT * FROM raid_groups WHERE pool = :pool ORDER BY number LIMIT :limit OFFSET :start`;
  return db.all<RaidGroupRow>(sql, { pool, ...sqlPage(page) });
}

export function findRaidGroup(db: Db, name: string): RaidGroupRow | undefined {
  return db.get<RaidGroupRow>('SELECT * FROM raid_groups WHERE name = :name', { name });
}

export function isDisplayNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM raid_groups WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

type NewRaidGroup = Omit<
  RaidGroupRow,
  'pool' | 'pool_bytes' | 'state' | 'capacity_bytes' | 'mismatches' | 'scrub_job' | 'scrub_position' | 'modified_at'
>;

/** In the making. */
export function insertRaidGroup(tx: Tx, group: NewRaidGroup): void {
  tx.run(
    `INSERT INTO raid_groups (name, number, display_name, protection, width, stripe_kb, capacity_bytes, member_gb,
       is_ssd, state, min_resync_mb, max_resync_mb, created_at, modified_at)
     VALUES (:name, :number, :display_name, :protection, :width, :stripe_kb, 0, :member_gb,
       :is_ssd, 'creating', :min_resync_mb, :max_resync_mb, :created_at, :created_at)`,
    { ...group },
  );
}

const CHANGEABLE = [
  'display_name',
  'capacity_bytes',
  'state',
  'mismatches',
  'min_resync_mb',
  'max_resync_mb',
  'scrub_job',
  'scrub_position',
] as const;

type RaidGroupChanges = Partial<Pick<RaidGroupRow, (typeof CHANGEABLE)[number]>>;

export function updateRaidGroup(tx: Tx, name: string, changes: RaidGroupChanges, now: number): void {
  const columns = CHANGEABLE.filter((column) => changes[column] !== undefined);
  const set = columns.map((column) => `${column} = :${column}`);
  tx.run(`UPDATE raid_groups SET ${[...set, 'modified_at = :now'].join(', ')} WHERE name = :name`, {
    ...Object.fromEntries(columns.map((column) => [column, changes[column] ?? null])),
    name,
    now,
  });
}

/** What a scrub that is under way, or ends, has found. */
export function addMismatches(tx: Tx, name: string, count: number): void {
  tx.run('UPDATE raid_groups SET mismatches = mismatches + :count WHERE name = :name', { name, count });
}

/** Part of the transaction that makes or expands a pool: it uses so much more of each group. */
export function addToPool(tx: Tx, pool: string, shares: readonly GroupShare[], now: number): void {
  const sql = `UPDATE raid_groups SET pool = :pool, pool_bytes = pool_bytes + :bytes, modified_at = :now
               WHERE name = :group`;
  for (const { group, bytes } of shares) tx.run(sql, { pool, group, bytes, now });
}

/** Undoes `addToPool`; groups of which the pool then uses nothing, and that `leaving` names, are out of it. */
export function takeFromPool(tx: Tx, shares: readonly GroupShare[], leaving: readonly string[], now: number): void {
  const sql = 'UPDATE raid_groups SET pool_bytes = pool_bytes - :bytes, modified_at = :now WHERE name = :group';
  for (const { group, bytes } of shares) tx.run(sql, { group, bytes, now });
  releaseFromPool(tx, leaving, now);
}

/** Part of the transaction that deletes or shrinks a pool. */
export function releaseFromPool(tx: Tx, names: readonly string[], now: number): void {
  const sql = 'UPDATE raid_groups SET pool = NULL, pool_bytes = 0, modified_at = :now WHERE name = :name';
  for (const name of names) tx.run(sql, { name, now });
}

export function deleteRaidGroup(tx: Tx, name: string): void {
  tx.run('DELETE FROM raid_groups WHERE name = :name', { name });
}

function count(db: Db, sql: string): number {
  return db.get<{ count: number }>(sql)?.count ?? 0;
}
