import {
  bytes,
  flag,
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
import type { RaidGroup } from './raid-group.ts';
import type { GroupShare } from './group-space.ts';

const KB = 1024;

const groups = new Table<RaidGroup>('raid_groups', {
  name: plain('name'),
  number: plain('number'),
  displayName: plain('display_name'),
  protection: plain('protection'),
  width: plain('width'),
  stripeBytes: inUnits('stripe_kb', KB),
  capacityBytes: plain('capacity_bytes'),
  memberGb: plain('member_gb'),
  isSsd: flag('is_ssd'),
  pool: plain('pool'),
  poolBytes: plain('pool_bytes'),
  state: plain('state'),
  mismatches: plain('mismatches'),
  minResyncMb: plain('min_resync_mb'),
  maxResyncMb: plain('max_resync_mb'),
  scrubJob: plain('scrub_job'),
  scrubPosition: plain('scrub_position'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${groups.fields()} FROM raid_groups`;

export function listRaidGroups(db: Db, page: Page): RaidGroup[] {
  const sql = `${SELECT} WHERE state = 'ready' ORDER BY number LIMIT :limit OFFSET :start`;
  return groups.all(db, sql, sqlPage(page));
}

export function countRaidGroups(db: Db): number {
  return count(db, `SELECT count(*) AS count FROM raid_groups WHERE state = 'ready'`);
}

/** Those that are being made or deleted, too. */
export function allRaidGroups(db: Db): RaidGroup[] {
  return groups.all(db, `${SELECT} ORDER BY number`);
}

export function listFreeRaidGroups(db: Db, page: Page): RaidGroup[] {
  const sql = `${SELECT} WHERE pool IS NULL AND state = 'ready' ORDER BY number LIMIT :limit OFFSET :start`;
  return groups.all(db, sql, sqlPage(page));
}

export function countFreeRaidGroups(db: Db): number {
  return count(db, `SELECT count(*) AS count FROM raid_groups WHERE pool IS NULL AND state = 'ready'`);
}

/** In the order they were made. */
export function raidGroupsOfPool(db: Db, pool: string, page: Page = WHOLE): RaidGroup[] {
  const sql = `${SELECT} WHERE pool = :pool ORDER BY number LIMIT :limit OFFSET :start`;
  return groups.all(db, sql, { pool, ...sqlPage(page) });
}

export function findRaidGroup(db: Db, name: string): RaidGroup | undefined {
  return groups.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function isDisplayNameTaken(db: Db, displayName: string): boolean {
  const sql = 'SELECT 1 FROM raid_groups WHERE display_name = :displayName';
  return db.get(sql, { displayName }) !== undefined;
}

type NewRaidGroup = Omit<
  RaidGroup,
  'pool' | 'poolBytes' | 'state' | 'capacityBytes' | 'mismatches' | 'scrubJob' | 'scrubPosition' | 'modifiedAt'
>;

/** In the making. */
export function insertRaidGroup(tx: Tx, wanted: NewRaidGroup): RaidGroup {
  const group: RaidGroup = {
    ...wanted,
    capacityBytes: bytes(0),
    pool: null,
    poolBytes: bytes(0),
    state: 'creating',
    mismatches: 0,
    scrubJob: null,
    scrubPosition: 0,
    modifiedAt: wanted.createdAt,
  };
  groups.insert(tx, group);
  return group;
}

type RaidGroupChange = Changes<Omit<RaidGroup, 'name' | 'number' | 'pool' | 'poolBytes' | 'createdAt' | 'modifiedAt'>>;

export function updateRaidGroup(tx: Tx, name: string, change: RaidGroupChange, now: number): void {
  groups.update(tx, { name }, { ...change, modifiedAt: now });
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
export function removeFromPool(tx: Tx, shares: readonly GroupShare[], leaving: readonly string[], now: number): void {
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
