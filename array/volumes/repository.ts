import type { Db, Tx } from '@granary/kernel';
import { removeLifecycleOf } from '../file-lifecycle/policies/repository.ts';
import { deleteShareRow } from '../shares/repository.ts';
import { removeTagsOf } from '../tags/repository.ts';

/** A volume as it is on record. Booleans are 0 and 1. */
export interface VolumeRow {
  readonly name: string;
  readonly display_name: string;
  readonly cg_name: string;
  readonly pool: string;
  /** A file share is a volume with a filesystem in it. */
  readonly kind: 'block' | 'file';
  readonly size_bytes: number;
  readonly state: 'creating' | 'ready' | 'deleting' | 'binned';
  readonly comment: string | null;
  readonly compress: number;
  readonly dedupe: number;
  readonly wrapped_key: string | null;
  readonly wwid: string;
  readonly mirror_job: string | null;
  readonly migration: string | null;
  readonly mtr_histograms: number;
  readonly capacity_mode: string;
  readonly capacity_history: number;
  readonly alert_mode: number;
  readonly emergency_gb: number;
  readonly auto_expand: number;
  readonly auto_expand_by_mb: number | null;
  readonly max_capacity_mb: number | null;
  readonly read_iops_limit: number;
  readonly read_mbps_limit: number;
  readonly read_latency_limit: number;
  readonly write_iops_limit: number;
  readonly write_mbps_limit: number;
  readonly write_latency_limit: number;
  readonly read_iops_capping: number;
  readonly read_mbps_capping: number;
  readonly write_iops_capping: number;
  readonly write_mbps_capping: number;
  /** The engine may not know of its reduction yet. */
  readonly is_untold: number;
  readonly delete_job: number | null;
  readonly binned_at: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

export function findVolume(db: Db, name: string): VolumeRow | undefined {
  return db.get<VolumeRow>(`SELECT * FROM volumes WHERE name = :name AND state <> 'binned'`, { name });
}

/** Also one in the recycle bin. */
export function findAnyVolume(db: Db, name: string): VolumeRow | undefined {
  return db.get<VolumeRow>('SELECT * FROM volumes WHERE name = :name', { name });
}

export function findVolumeByGroup(db: Db, group: string): VolumeRow | undefined {
  return db.get<VolumeRow>(`SELECT * FROM volumes WHERE cg_name = :group AND state <> 'binned'`, { group });
}

export function isNameTaken(db: Db, displayName: string): boolean {
  const sql = `SELECT 1 FROM volumes WHERE display_name = :displayName AND state IN ('creating', 'ready')`;
  return db.get(sql, { displayName }) !== undefined;
}

/** All there are, those in the recycle bin included. */
export function countAllVolumes(db: Db): number {
  return db.get<{ count: number }>('SELECT count(*) AS count FROM volumes')?.count ?? 0;
}

export function listBinnedBefore(db: Db, time: number): VolumeRow[] {
  return db.all<VolumeRow>(`SELECT * FROM volumes WHERE state = 'binned' AND binned_at <= :time`, { time });
}

export function listCreating(db: Db): VolumeRow[] {
  return db.all<VolumeRow>(`SELECT * FROM volumes WHERE state = 'creating'`);
}

export function listGoing(db: Db): VolumeRow[] {
  return db.all<VolumeRow>(`SELECT * FROM volumes WHERE state = 'deleting'`);
}

/** In whatever state: all of them lie in it. */
export function listVolumesOfPool(db: Db, pool: string): VolumeRow[] {
  return db.all<VolumeRow>('SELECT * FROM volumes WHERE pool = :pool ORDER BY name', { pool });
}

export function listUntold(db: Db): VolumeRow[] {
  return db.all<VolumeRow>('SELECT * FROM volumes WHERE is_untold = 1');
}

export function listCapped(db: Db): VolumeRow[] {
  return db.all<VolumeRow>(
    `SELECT * FROM volumes
     WHERE read_iops_capping > 0 OR read_mbps_capping > 0 OR write_iops_capping > 0 OR write_mbps_capping > 0`,
  );
}

/** Those whose reads and writes are counted by size. */
export function listCounted(db: Db): VolumeRow[] {
  return db.all<VolumeRow>('SELECT * FROM volumes WHERE mtr_histograms = 1');
}

/** Those with a limit to watch: the condition is that of their index. */
export function listWatched(db: Db): VolumeRow[] {
  return db.all<VolumeRow>(
    `SELECT * FROM volumes
     WHERE state = 'ready'
       AND (alert_mode > 0 OR emergency_gb > 0 OR auto_expand = 1 OR capacity_mode <> 'normal'
            OR read_iops_limit > 0 OR read_mbps_limit > 0 OR read_latency_limit > 0
            OR write_iops_limit > 0 OR write_mbps_limit > 0 OR write_latency_limit > 0)`,
  );
}

export interface WrappedKey {
  readonly name: string;
  readonly wrapped_key: string;
}

export function listWrappedKeys(db: Db): WrappedKey[] {
  return db.all<WrappedKey>('SELECT name, wrapped_key FROM volumes WHERE wrapped_key IS NOT NULL');
}

type VolumePlace = Pick<VolumeRow, 'name' | 'size_bytes' | 'pool' | 'migration'>;

export function listVolumeNames(db: Db): VolumePlace[] {
  return db.all<VolumePlace>('SELECT name, size_bytes, pool, migration FROM volumes');
}

export function serversOf(db: Db, volume: string): string[] {
  const sql = 'SELECT server FROM attachments WHERE volume = :volume ORDER BY server';
  return db.all<{ server: string }>(sql, { volume }).map(({ server }) => server);
}

export function countSnapshotsOf(db: Db, volume: string): number {
  const sql = 'SELECT count(*) AS count FROM snapshots WHERE volume = :volume';
  return db.get<{ count: number }>(sql, { volume })?.count ?? 0;
}

export function isMirrorSource(db: Db, { name }: VolumeRow): boolean {
  const sql = `SELECT 1 FROM source_mirrors WHERE volume = :name AND state IN ('creating', 'active', 'paused')`;
  return db.get(sql, { name }) !== undefined;
}

export function deleteRulesOf(tx: Tx, volume: string): void {
  tx.run('DELETE FROM snapshot_rules WHERE volume = :volume', { volume });
}

const COLUMNS: readonly (keyof VolumeRow)[] = [
  'name',
  'display_name',
  'cg_name',
  'pool',
  'kind',
  'size_bytes',
  'state',
  'comment',
  'compress',
  'dedupe',
  'wrapped_key',
  'wwid',
  'mirror_job',
  'migration',
  'mtr_histograms',
  'capacity_mode',
  'capacity_history',
  'alert_mode',
  'emergency_gb',
  'auto_expand',
  'auto_expand_by_mb',
  'max_capacity_mb',
  'read_iops_limit',
  'read_mbps_limit',
  'read_latency_limit',
  'write_iops_limit',
  'write_mbps_limit',
  'write_latency_limit',
  'read_iops_capping',
  'read_mbps_capping',
  'write_iops_capping',
  'write_mbps_capping',
  'is_untold',
  'delete_job',
  'binned_at',
  'created_at',
  'modified_at',
];
const INSERT = `INSERT INTO volumes (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map((column) => `:${column}`).join(', ')})`;

export function insertVolume(tx: Tx, row: VolumeRow): void {
  tx.run(INSERT, { ...row });
}

export type VolumeChange = Partial<Omit<VolumeRow, 'name' | 'created_at'>>;

/** Changes the fields that are given; `modified_at` is the caller's to set. */
export function updateVolume(tx: Tx, name: string, change: VolumeChange): void {
  const columns = COLUMNS.filter((column) => column in change);
  const assignments = columns.map((column) => `${column} = :${column}`).join(', ');
  tx.run(`UPDATE volumes SET ${assignments} WHERE name = :name`, { ...change, name });
}

/** With what is tied to it alone. */
export function deleteVolumeRow(tx: Tx, name: string): void {
  tx.run('DELETE FROM snapshots WHERE volume = :name', { name });
  deleteRulesOf(tx, name);
  removeTagsOf(tx, 'volume', name);
  deleteShareRow(tx, name);
  removeLifecycleOf(tx, name);
  tx.run('DELETE FROM volumes WHERE name = :name', { name });
}
