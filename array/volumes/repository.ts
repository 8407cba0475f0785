import {
  bestFirst,
  bytes,
  flag,
  GB,
  inUnits,
  likeAny,
  likeParams,
  MB,
  plain,
  Table,
  type Bytes,
  type Db,
  type Tx,
} from '@granary/kernel';
import { deleteShare } from '../shares/repository.ts';
import { removeTagsOf } from '../tags/repository.ts';
import type { VolumeDependents } from './dependents.ts';
import type { Volume, VolumeChange } from './volume.ts';

export const volumeTable = new Table<Volume>('volumes', {
  name: plain('name'),
  displayName: plain('display_name'),
  consistencyGroup: plain('cg_name'),
  pool: plain('pool'),
  kind: plain('kind'),
  sizeBytes: plain('size_bytes'),
  state: plain('state'),
  comment: plain('comment'),
  compress: flag('compress'),
  dedupe: flag('dedupe'),
  wrappedKey: plain('wrapped_key'),
  wwid: plain('wwid'),
  mirrorJob: plain('mirror_job'),
  migration: plain('migration'),
  restoring: plain('restoring'),
  restoredAt: plain('restored_at'),
  countsSizes: flag('mtr_histograms'),
  capacityMode: plain('capacity_mode'),
  historyMinutes: plain('capacity_history'),
  alertMinutes: plain('alert_mode'),
  emergencyBytes: inUnits('emergency_gb', GB),
  expandsItself: flag('auto_expand'),
  expandByBytes: inUnits('auto_expand_by_mb', MB),
  maxBytes: inUnits('max_capacity_mb', MB),
  readIopsLimit: plain('read_iops_limit'),
  readMbpsLimit: plain('read_mbps_limit'),
  readLatencyLimit: plain('read_latency_limit'),
  writeIopsLimit: plain('write_iops_limit'),
  writeMbpsLimit: plain('write_mbps_limit'),
  writeLatencyLimit: plain('write_latency_limit'),
  readIopsCap: plain('read_iops_capping'),
  readMbpsCap: plain('read_mbps_capping'),
  writeIopsCap: plain('write_iops_capping'),
  writeMbpsCap: plain('write_mbps_capping'),
  isReductionPending: flag('is_untold'),
  deleteJob: plain('delete_job'),
  binnedAt: plain('binned_at'),
  createdBy: plain('created_by'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});
const SELECT = `SELECT ${volumeTable.fields()} FROM volumes`;

export function findVolume(db: Db, name: string): Volume | undefined {
  return volumeTable.get(db, `${SELECT} WHERE name = :name AND state <> 'binned'`, { name });
}

/** Also one in the recycle bin. */
export function findAnyVolume(db: Db, name: string): Volume | undefined {
  return volumeTable.get(db, `${SELECT} WHERE name = :name`, { name });
}

export function findVolumeByGroup(db: Db, group: string): Volume | undefined {
  return volumeTable.get(db, `${SELECT} WHERE cg_name = :group AND state <> 'binned'`, { group });
}

/** In whatever state. */
export function creatorsOfGroup(db: Db, group: string): (number | null)[] {
  return volumeTable.all(db, `${SELECT} WHERE cg_name = :group`, { group }).map(({ createdBy }) => createdBy);
}

/** Of all these volumes, each creator once; null also stands for one that is not there. */
export function creatorsOfVolumes(db: Db, names: readonly string[]): (number | null)[] {
  const sql = `SELECT DISTINCT volumes.created_by AS creator
    FROM json_each(:names) AS wanted LEFT JOIN volumes ON volumes.name = wanted.value`;
  return db.all<{ creator: number | null }>(sql, { names: JSON.stringify(names) }).map(({ creator }) => creator);
}

export function isNameTaken(db: Db, displayName: string): boolean {
  const sql = `SELECT 1 FROM volumes WHERE display_name = :displayName AND state IN ('creating', 'ready')`;
  return db.get(sql, { displayName }) !== undefined;
}

/** All there are, those in the recycle bin included. */
export function countAllVolumes(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM volumes')?.count ?? 0;
}

export function listBinnedBefore(db: Db, time: number): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE state = 'binned' AND binned_at <= :time`, { time });
}

export function listCreating(db: Db): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE state = 'creating'`);
}

export function listGoing(db: Db): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE state = 'deleting'`);
}

/** What all volumes of a pool were promised, those in the recycle bin too. */
export function sumSizes(db: Db, pool: string): Bytes {
  const sql = 'SELECT coalesce(sum(size_bytes), 0) AS total FROM volumes WHERE pool = :pool';
  return bytes(db.get<{ total: number }>(sql, { pool })?.total ?? 0);
}

/** In whatever state: all of them lie in it. */
export function countVolumesOfPool(db: Db, pool: string): number {
  const sql = 'SELECT count(*) AS count FROM volumes WHERE pool = :pool';
  return db.get<{ count: number }>(sql, { pool })?.count ?? 0;
}

/** In whatever state: all of them lie in it. */
export function listVolumesOfPool(db: Db, pool: string): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE pool = :pool ORDER BY name`, { pool });
}

export function listReductionPending(db: Db): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE is_untold = 1`);
}

export function listCapped(db: Db): Volume[] {
  return volumeTable.all(
    db,
    `${SELECT}
     WHERE read_iops_capping > 0 OR read_mbps_capping > 0 OR write_iops_capping > 0 OR write_mbps_capping > 0`,
  );
}

/** Those whose reads and writes are counted by size. */
export function listCounted(db: Db): Volume[] {
  return volumeTable.all(db, `${SELECT} WHERE mtr_histograms = 1`);
}

/** Those with a limit to watch: the condition is that of their index. */
export function listWatched(db: Db): Volume[] {
  return volumeTable.all(
    db,
    `${SELECT}
     WHERE state = 'ready'
       AND (alert_mode > 0 OR emergency_gb > 0 OR auto_expand = 1 OR capacity_mode <> 'normal'
            OR read_iops_limit > 0 OR read_mbps_limit > 0 OR read_latency_limit > 0
            OR write_iops_limit > 0 OR write_mbps_limit > 0 OR write_latency_limit > 0)`,
  );
}

/** Shares that are there to be served: ready, and no mirror writes to them. */
const SERVABLE = `kind = 'file' AND state = 'ready' AND mirror_job IS NULL`;

export function listServableShares(db: Db): string[] {
  return db.all<{ name: string }>(`SELECT name FROM volumes WHERE ${SERVABLE} ORDER BY name`).map(({ name }) => name);
}

export function isServableShare(db: Db, name: string): boolean {
  return db.get(`SELECT 1 FROM volumes WHERE name = :name AND ${SERVABLE}`, { name }) !== undefined;
}

/** The volume made for the destination of a mirror. */
export function findVolumeOfMirror(db: Db, mirrorJob: string): string | undefined {
  const sql = `SELECT name FROM volumes WHERE mirror_job = :mirrorJob AND state = 'ready'`;
  return db.get<{ name: string }>(sql, { mirrorJob })?.name;
}

export interface WrappedKey {
  readonly name: string;
  readonly wrappedKey: string;
}

export function listWrappedKeys(db: Db): WrappedKey[] {
  return db.all<WrappedKey>('SELECT name, wrapped_key AS wrappedKey FROM volumes WHERE wrapped_key IS NOT NULL');
}

type VolumePlace = Pick<Volume, 'name' | 'sizeBytes' | 'pool' | 'migration'>;

export function listVolumeNames(db: Db): VolumePlace[] {
  return db.all<VolumePlace>('SELECT name, size_bytes AS sizeBytes, pool, migration FROM volumes');
}

export interface VolumeRoom extends Pick<Volume, 'name' | 'displayName' | 'sizeBytes'> {
  /** To which it expands by itself; null where it does not. */
  readonly expandsTo: Bytes | null;
}

/** What the volumes that are ready can take. */
export function listVolumeRooms(db: Db): VolumeRoom[] {
  const rows = db.all<Omit<VolumeRoom, 'expandsTo'> & { expands: number; maxMb: number | null }>(
    `SELECT name, display_name AS displayName, size_bytes AS sizeBytes, auto_expand AS expands, max_capacity_mb AS maxMb
     FROM volumes WHERE state = 'ready' ORDER BY name`,
  );
  return rows.map(({ expands, maxMb, ...volume }) => ({
    ...volume,
    expandsTo: expands === 1 && maxMb !== null ? bytes(maxMb * MB) : null,
  }));
}

export type NamedVolume = Pick<Volume, 'name' | 'displayName' | 'pool' | 'kind'>;

/** Those with a text in their names, best first. */
export function searchVolumes(db: Db, text: string, limit: number): NamedVolume[] {
  const sql = `SELECT name, display_name AS displayName, pool, kind FROM volumes
    WHERE state IN ('creating', 'ready') AND ${likeAny('display_name', 'name')} ORDER BY ${bestFirst('display_name')}`;
  return db.all(sql, likeParams(text, limit));
}

interface NamedVolumes {
  readonly volumes: NamedVolume[];
  /** Of all there are, those in the recycle bin excepted. */
  readonly counts: Readonly<Record<Volume['kind'], number>>;
}

/** The oldest ones, and how many there are of each kind. */
export function listNamedVolumes(db: Db, limit: number): NamedVolumes {
  const shown = `FROM volumes WHERE state = 'ready'`;
  const volumes = db.all<NamedVolume>(
    `SELECT name, display_name AS displayName, pool, kind ${shown} ORDER BY name LIMIT :limit`,
    { limit },
  );
  const counts = { block: 0, file: 0 };
  for (const { kind, n } of db.all<{ kind: Volume['kind']; n: number }>(
    `SELECT kind, count(*) AS n ${shown} GROUP BY kind`,
  ))
    counts[kind] = n;
  return { volumes, counts };
}

export function insertVolume(tx: Tx, volume: Volume): void {
  volumeTable.insert(tx, volume);
}

export function updateVolume(tx: Tx, name: string, change: VolumeChange): void {
  volumeTable.update(tx, { name }, change);
}

/** With what is tied to it alone. */
export function deleteVolume(tx: Tx, name: string, dependents: VolumeDependents): void {
  dependents.removeAllOf(tx, name);
  removeTagsOf(tx, 'volume', name);
  deleteShare(tx, name);
  tx.run('DELETE FROM volumes WHERE name = :name', { name });
}
