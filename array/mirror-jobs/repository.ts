import type { Db, Tx } from '@granary/kernel';

/** A mirror whose source is here. Booleans are 0 and 1. */
export interface SourceRow {
  readonly name: string;
  readonly display_name: string;
  readonly state: 'creating' | 'active' | 'paused' | 'broken' | 'abandoned';
  readonly volume: string;
  readonly cg_name: string;
  readonly cg_display_name: string;
  readonly pool_display_name: string;
  readonly remote_array: string;
  readonly remote_uuid: string;
  readonly remote_display_name: string;
  readonly remote_provider: string;
  readonly remote_pool: string;
  readonly remote_volume: string;
  readonly rule: string | null;
  readonly rate_limit_kb: number;
  readonly base: string | null;
  readonly base_taken_at: number | null;
  readonly round: string | null;
  readonly position: number;
  readonly sent_bytes: number;
  readonly wire_bytes: number;
  readonly sync_ms: number;
  readonly inherit_wwid: number;
  readonly is_peer_told: number;
  readonly created_at: number;
  readonly modified_at: number;
}

/** A mirror whose destination is here. */
export interface DestinationRow {
  readonly name: string;
  readonly peer: string;
  readonly source_job: string;
  readonly display_name: string;
  readonly state: 'creating' | 'active' | 'breaking' | 'broken' | 'deleting';
  readonly volume: string | null;
  readonly volume_name: string;
  readonly pool_display_name: string;
  readonly src_provider: string;
  readonly src_array: string;
  readonly src_cg_name: string;
  readonly src_cg: string;
  readonly src_pool: string;
  readonly src_wwid: string;
  readonly is_paused: number;
  readonly base: string | null;
  readonly base_taken_at: number | null;
  readonly base_snapshot: string | null;
  readonly round: string | null;
  readonly round_name: string | null;
  readonly round_taken_at: number | null;
  readonly position: number;
  readonly received_bytes: number;
  readonly sync_ms: number;
  readonly inherit_wwid: number;
  readonly created_at: number;
  readonly modified_at: number;
}

type Values = Readonly<Record<string, string | number | null>>;

function insert(tx: Tx, table: string, row: Values): void {
  const columns = Object.keys(row);
  tx.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((one) => `:${one}`).join(', ')})`, row);
}

function update(tx: Tx, table: string, name: string, change: Values): void {
  const assignments = Object.keys(change).map((column) => `${column} = :${column}`);
  tx.run(`UPDATE ${table} SET ${assignments.join(', ')} WHERE name = :name`, { ...change, name });
}

// Sources

export type NewSource = Pick<
  SourceRow,
  | 'name'
  | 'display_name'
  | 'state'
  | 'volume'
  | 'cg_name'
  | 'cg_display_name'
  | 'pool_display_name'
  | 'remote_array'
  | 'remote_uuid'
  | 'remote_display_name'
  | 'remote_provider'
  | 'remote_pool'
  | 'remote_volume'
  | 'created_at'
  | 'modified_at'
>;

export function insertSource(tx: Tx, row: NewSource): void {
  insert(tx, 'source_mirrors', { ...row });
}

export function updateSource(tx: Tx, name: string, change: Partial<Omit<SourceRow, 'name'>>): void {
  update(tx, 'source_mirrors', name, change);
}

export function removeSource(tx: Tx, name: string): void {
  tx.run('DELETE FROM source_mirrors WHERE name = :name', { name });
}

export function findSource(db: Db, name: string): SourceRow | undefined {
  return db.get<SourceRow>('SELECT * FROM source_mirrors WHERE name = :name', { name });
}

export function isMirrorNameTaken(db: Db, displayName: string): boolean {
  const sql = `SELECT 1 FROM source_mirrors
    WHERE display_name = :displayName AND state IN ('creating', 'active', 'paused')`;
  return db.get(sql, { displayName }) !== undefined;
}

export function listSources(db: Db): SourceRow[] {
  return db.all<SourceRow>(`SELECT * FROM source_mirrors ORDER BY name`);
}

/** Of one volume, those that live. */
export function listSourcesOf(db: Db, volume: string): SourceRow[] {
  const sql = `SELECT * FROM source_mirrors WHERE volume = :volume AND state IN ('active', 'paused')`;
  return db.all<SourceRow>(sql, { volume });
}

export function countSources(db: Db): number {
  const sql = `SELECT count(*) AS n FROM source_mirrors WHERE state IN ('creating', 'active', 'paused')`;
  return db.get<{ n: number }>(sql)?.n ?? 0;
}

export function countMirrorsTo(db: Db, remoteArray: string): number {
  const sql = `SELECT count(*) AS n FROM source_mirrors
    WHERE remote_array = :remoteArray AND state IN ('creating', 'active', 'paused')`;
  return db.get<{ n: number }>(sql, { remoteArray })?.n ?? 0;
}

/** A remote array is forgotten: what it was not told, it is not told any more. */
export function forgetUntold(tx: Tx, remoteArray: string): void {
  tx.run(`DELETE FROM source_mirrors WHERE remote_array = :remoteArray AND state = 'abandoned'`, { remoteArray });
  tx.run('UPDATE source_mirrors SET is_peer_told = 1 WHERE remote_array = :remoteArray', { remoteArray });
}

/** The oldest of a mirror's snapshots that came after the one given. */
export function findNextSnapshot(db: Db, job: string, after: string | null): string | undefined {
  const sql = `SELECT name FROM snapshots WHERE mirror_job = :job AND name > :after AND state = 'ready'
    ORDER BY name LIMIT 1`;
  return db.get<{ name: string }>(sql, { job, after: after ?? '' })?.name;
}

/** The oldest snapshot taken by hand that came after the one given. */
export function findNextByHand(db: Db, volume: string, after: string | null): string | undefined {
  const sql = `SELECT min(name) AS name FROM snapshots WHERE volume = :volume AND name > :after AND state = 'ready'
    AND application = 'user' AND rule IS NULL`;
  return db.get<{ name: string | null }>(sql, { volume, after: after ?? '' })?.name ?? undefined;
}

/** Those of a mirror beyond the newest few. */
export function findSurplusSnapshots(db: Db, job: string, keep: number): string[] {
  const sql = `SELECT name FROM snapshots WHERE mirror_job = :job AND state = 'ready'
    ORDER BY name DESC LIMIT -1 OFFSET :keep`;
  return db.all<{ name: string }>(sql, { job, keep }).map(({ name }) => name);
}

/** Those taken before there was a rule count as its own. */
export function tieSnapshots(tx: Tx, job: string, rule: string): void {
  tx.run('UPDATE snapshots SET rule = :rule WHERE mirror_job = :job', { job, rule });
}

/** They stay, as snapshots like any other. */
export function releaseSnapshots(tx: Tx, job: string): void {
  tx.run('UPDATE snapshots SET mirror_job = NULL WHERE mirror_job = :job', { job });
}

// Destinations

export type NewDestination = Omit<
  DestinationRow,
  | 'volume'
  | 'is_paused'
  | 'base'
  | 'base_taken_at'
  | 'base_snapshot'
  | 'round'
  | 'round_name'
  | 'round_taken_at'
  | 'position'
  | 'received_bytes'
  | 'sync_ms'
  | 'inherit_wwid'
>;

export function insertDestination(tx: Tx, row: NewDestination): void {
  insert(tx, 'destination_mirrors', { ...row });
}

export function updateDestination(tx: Tx, name: string, change: Partial<Omit<DestinationRow, 'name'>>): void {
  update(tx, 'destination_mirrors', name, change);
}

export function removeDestination(tx: Tx, name: string): void {
  tx.run('DELETE FROM destination_mirrors WHERE name = :name', { name });
}

export function findDestination(db: Db, name: string): DestinationRow | undefined {
  return db.get<DestinationRow>('SELECT * FROM destination_mirrors WHERE name = :name', { name });
}

export function findDestinationOf(db: Db, peer: string, job: string): DestinationRow | undefined {
  const sql = 'SELECT * FROM destination_mirrors WHERE peer = :peer AND source_job = :job';
  return db.get<DestinationRow>(sql, { peer, job });
}

export function listDestinations(db: Db): DestinationRow[] {
  return db.all<DestinationRow>('SELECT * FROM destination_mirrors ORDER BY name');
}

export function countDestinationsOf(db: Db, peer: string): number {
  const sql = `SELECT count(*) AS n FROM destination_mirrors WHERE peer = :peer AND state <> 'broken'`;
  return db.get<{ n: number }>(sql, { peer })?.n ?? 0;
}

/** The volume made for a destination, if that was as far as it came. */
export function findVolumeOf(db: Db, job: string): string | undefined {
  const sql = `SELECT name FROM volumes WHERE mirror_job = :job AND state = 'ready'`;
  return db.get<{ name: string }>(sql, { job })?.name;
}

/** Broken ones that everybody knows of. */
export function removeBrokenBefore(tx: Tx, time: number): void {
  const sql = `WHERE state = 'broken' AND modified_at < :time`;
  tx.run(`DELETE FROM source_mirrors ${sql} AND is_peer_told = 1`, { time });
  tx.run(`DELETE FROM destination_mirrors ${sql}`, { time });
}
