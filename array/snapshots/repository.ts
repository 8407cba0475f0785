import { bestFirst, likeAny, likeParams, plain, Table, type Bytes, type Db, type Tx } from '@granary/kernel';
import type { Snapshot, SnapshotInPlace } from './snapshot.ts';

const snapshots = new Table<Snapshot>('snapshots', {
  name: plain('name'),
  displayName: plain('display_name'),
  volume: plain('volume'),
  sizeBytes: plain('size_bytes'),
  application: plain('application'),
  rule: plain('rule'),
  policy: plain('policy'),
  mirrorJob: plain('mirror_job'),
  state: plain('state'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

export interface SnapshotFilter {
  readonly volume?: string | undefined;
  readonly application?: string | undefined;
  readonly mirrorJob?: string | undefined;
  readonly policy?: string | undefined;
  /** Taken then or later. */
  readonly from?: number | undefined;
  /** Taken earlier. */
  readonly before?: number | undefined;
  readonly start: number;
  readonly limit: number;
}

/** A volume in the bin, or on its way out, takes its snapshots out of sight. */
const IN_PLACE = `FROM snapshots AS s JOIN volumes AS v ON v.name = s.volume AND v.state IN ('creating', 'ready')`;
const COLUMNS = `${snapshots.fields('s')}, v.cg_name AS consistencyGroup, v.pool, v.display_name AS volumeDisplayName`;

type Place = Pick<SnapshotInPlace, 'consistencyGroup' | 'pool' | 'volumeDisplayName'>;

export function insertSnapshot(tx: Tx, snapshot: Snapshot): void {
  snapshots.insert(tx, snapshot);
}

/** Ready ones. */
export function findSnapshot(db: Db, name: string): SnapshotInPlace | undefined {
  const sql = `SELECT ${COLUMNS} ${IN_PLACE} WHERE s.name = :name AND s.state = 'ready'`;
  return snapshots.get<Place>(db, sql, { name });
}

/** Of this volume, by identifier or by name. */
export function findSnapshotOfVolume(db: Db, volume: string, wanted: string): Snapshot | undefined {
  return snapshots.get(
    db,
    `SELECT ${snapshots.fields()} FROM snapshots
     WHERE volume = :volume AND state = 'ready' AND :wanted IN (name, display_name)
     ORDER BY name = :wanted DESC LIMIT 1`,
    { volume, wanted },
  );
}

export function listSnapshots(db: Db, filter: SnapshotFilter): { snapshots: SnapshotInPlace[]; count: number } {
  const { start, limit, ...wanted } = filter;
  const { where, params } = conditionsOf(wanted);
  const order = wanted.volume === undefined ? 's.name' : 's.created_at, s.name';
  return {
    snapshots: snapshots.all<Place>(
      db,
      `SELECT ${COLUMNS} ${IN_PLACE} WHERE ${where} ORDER BY ${order} LIMIT :limit OFFSET :start`,
      { ...params, start, limit: limit === 0 ? -1 : limit },
    ),
    count: db.get<{ n: number }>(`SELECT count(*) AS n ${IN_PLACE} WHERE ${where}`, params)?.n ?? 0,
  };
}

export type NamedSnapshot = Pick<Snapshot, 'name' | 'displayName' | 'volume'> & Pick<Place, 'volumeDisplayName'>;

/** Ready ones with a text in their names, best first. Only what is found is joined with its volume. */
export function searchSnapshots(db: Db, text: string, limit: number): NamedSnapshot[] {
  const sql = `SELECT s.name, s.display_name AS displayName, s.volume, v.display_name AS volumeDisplayName ${IN_PLACE}
    WHERE s.state = 'ready' AND ${likeAny('s.display_name', 's.name')} ORDER BY ${bestFirst('s.display_name')}`;
  return db.all(sql, likeParams(text, limit));
}

type Wanted = Omit<SnapshotFilter, 'start' | 'limit'>;

const conditions: Readonly<Record<keyof Wanted, string>> = {
  volume: 's.volume = :volume',
  application: 's.application = :application',
  mirrorJob: 's.mirror_job = :mirrorJob',
  policy: 's.policy = :policy',
  from: 's.created_at >= :from',
  before: 's.created_at < :before',
};

function conditionsOf(wanted: Wanted): { where: string; params: Record<string, string | number> } {
  const given = (Object.keys(conditions) as (keyof Wanted)[]).flatMap((key) => {
    const value = wanted[key];
    return value === undefined ? [] : [{ key, value }];
  });
  return {
    where: ["s.state = 'ready'", ...given.map(({ key }) => conditions[key])].join(' AND '),
    params: Object.fromEntries(given.map(({ key, value }) => [key, value])),
  };
}

export function isNameTaken(db: Db, volume: string, displayName: string): boolean {
  const sql = 'SELECT 1 FROM snapshots WHERE volume = :volume AND display_name = :displayName';
  return db.get(sql, { volume, displayName }) !== undefined;
}

/** Of one volume; of all without one. */
export function countSnapshots(db: Db, volume = ''): number {
  const sql = 'SELECT count FROM snapshot_counts WHERE volume = :volume';
  return db.get<{ count: number }>(sql, { volume })?.count ?? 0;
}

/** False when it is not in that state, or gone. */
export function changeState(tx: Tx, name: string, from: Snapshot['state'], to: Snapshot['state']): boolean {
  return snapshots.update(tx, { name, state: from }, { state: to }) === 1;
}

export function renameSnapshot(tx: Tx, name: string, displayName: string, now: number): void {
  snapshots.update(tx, { name }, { displayName, modifiedAt: now });
}

export function resizeSnapshot(tx: Tx, name: string, sizeBytes: Bytes): void {
  snapshots.update(tx, { name }, { sizeBytes });
}

/** With their volume. */
export function removeSnapshotsOf(tx: Tx, volume: string): void {
  tx.run('DELETE FROM snapshots WHERE volume = :volume', { volume });
}

export function removeSnapshot(tx: Tx, name: string): boolean {
  return tx.run('DELETE FROM snapshots WHERE name = :name', { name }).changes === 1;
}

/** Those that were being made or deleted when the array went down, and those whose undoing failed. */
export function findUnfinished(db: Db): { name: string; state: Snapshot['state'] }[] {
  return db.all(`SELECT name, state FROM snapshots WHERE state <> 'ready' ORDER BY name`);
}

export function hasUnfinished(db: Db, volume: string): boolean {
  return db.get(`SELECT 1 FROM snapshots WHERE state <> 'ready' AND volume = :volume`, { volume }) !== undefined;
}

/** Those that clients see in their share. */
export function listShownSnapshots(db: Db, volume: string): Pick<Snapshot, 'name' | 'displayName'>[] {
  const sql = `SELECT name, display_name AS displayName FROM snapshots
    WHERE volume = :volume AND state = 'ready' ORDER BY created_at, name`;
  return db.all(sql, { volume });
}

/** Of a rule, those beyond the newest ones it keeps; oldest first. */
export function findBeyond(db: Db, rule: string, keep: number): Snapshot[] {
  return snapshots
    .all(
      db,
      `SELECT ${snapshots.fields()} FROM snapshots WHERE rule = :rule AND state = 'ready'
       ORDER BY created_at DESC, name DESC LIMIT -1 OFFSET :keep`,
      { rule, keep },
    )
    .reverse();
}

export function findNewestOfRule(db: Db, rule: string): Snapshot | undefined {
  return snapshots.get(
    db,
    `SELECT ${snapshots.fields()} FROM snapshots WHERE rule = :rule AND state = 'ready' ORDER BY created_at DESC, name DESC LIMIT 1`,
    { rule },
  );
}

/** The oldest of a mirror's snapshots that came after the one given. */
export function findNextOfMirror(db: Db, job: string, after: string | null): string | undefined {
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

/** Those of a mirror beyond the newest `keep`. */
export function findSurplusOfMirror(db: Db, job: string, keep: number): string[] {
  const sql = `SELECT name FROM snapshots WHERE mirror_job = :job AND state = 'ready'
    ORDER BY name DESC LIMIT -1 OFFSET :keep`;
  return db.all<{ name: string }>(sql, { job, keep }).map(({ name }) => name);
}

/** Snapshots of a mirror from before it had a rule belong to the rule. */
export function assignToRule(tx: Tx, job: string, rule: string): void {
  tx.run('UPDATE snapshots SET rule = :rule WHERE mirror_job = :job', { job, rule });
}

/** Its snapshots stay, without the mirror. */
export function releaseFromMirror(tx: Tx, job: string): void {
  tx.run('UPDATE snapshots SET mirror_job = NULL WHERE mirror_job = :job', { job });
}

/** The volume of a snapshot in whatever state. */
export function findVolumeOfSnapshot(db: Db, name: string): string | undefined {
  return db.get<{ volume: string }>('SELECT volume FROM snapshots WHERE name = :name', { name })?.volume;
}

/** Mirrors that send the snapshot, or go by it when they send the next. */
const MIRRORS_NEEDING = (name: string) => `
  SELECT name FROM source_mirrors WHERE base = ${name} AND state IN ('creating', 'active', 'paused')
  UNION ALL SELECT name FROM source_mirrors WHERE round = ${name} AND state IN ('creating', 'active', 'paused')
  UNION ALL SELECT name FROM destination_mirrors WHERE base_snapshot = ${name} AND state IN ('active', 'breaking')`;

export function findMirrorNeeding(db: Db, name: string): string | undefined {
  return db.get<{ name: string }>(`${MIRRORS_NEEDING(':name')} LIMIT 1`, { name })?.name;
}

/** In a pool, the oldest that no mirror needs and whose volume is not being moved. */
export function findOldest(db: Db, pool: string, except: readonly string[]): SnapshotInPlace | undefined {
  return snapshots.get<Place>(
    db,
    `SELECT ${COLUMNS} FROM snapshots AS s CROSS JOIN volumes AS v
     WHERE v.name = s.volume AND v.pool = :pool AND v.state = 'ready' AND v.migration IS NULL AND v.restoring IS NULL
       AND s.state = 'ready' AND s.name NOT IN (SELECT value FROM json_each(:except))
       AND NOT EXISTS (${MIRRORS_NEEDING('s.name')})
     ORDER BY s.created_at, s.name LIMIT 1`,
    { pool, except: JSON.stringify(except) },
  );
}
