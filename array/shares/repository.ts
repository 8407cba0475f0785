import type { Db, Tx } from '@granary/kernel';
import type { ShareOptions } from './options.ts';

/** A share as it is on record, beside its volume. */
export interface Share {
  readonly volume: string;
  readonly options: ShareOptions;
  /** The first is the primary one. */
  readonly exportNames: readonly string[];
}

type SqlValue = string | number | null;

interface Column<T> {
  readonly name: string;
  readonly write: (value: T) => SqlValue;
  readonly read: (value: SqlValue) => T;
}

function flag(name: string): Column<boolean> {
  return { name, write: Number, read: (value) => value === 1 };
}

/** Kept as it is. */
function plain<T extends SqlValue>(name: string): Column<T> {
  return { name, write: (value) => value, read: (value) => value as T };
}

const columns: { readonly [K in keyof ShareOptions]: Column<ShareOptions[K]> } = {
  syncsWrites: flag('syncs_writes'),
  updatesAccessTimes: flag('updates_access_times'),
  readAheadKb: plain('read_ahead_kb'),
  squashesRoot: flag('squashes_root'),
  squashesAll: flag('squashes_all'),
  anonymousUid: plain('anonymous_uid'),
  anonymousGid: plain('anonymous_gid'),
  isAudited: flag('is_audited'),
  isSmbOnly: flag('is_smb_only'),
  admitsGuests: flag('admits_guests'),
  keepsWindowsAcls: flag('keeps_windows_acls'),
  isBrowseable: flag('is_browseable'),
  hidesUnreadable: flag('hides_unreadable'),
  hidesUnwriteable: flag('hides_unwriteable'),
  hidesDotFiles: flag('hides_dot_files'),
  keepsDosAttributes: flag('keeps_dos_attributes'),
  mapsArchive: flag('maps_archive'),
  grantsOplocks: flag('grants_oplocks'),
  fileCreateMask: plain('file_create_mask'),
  directoryCreateMask: plain('directory_create_mask'),
  hiddenFiles: plain('hidden_files'),
  smbEncryption: plain('smb_encryption'),
  mangledNames: plain('mangled_names'),
  caseSensitive: plain('case_sensitive'),
};
const all = Object.entries(columns) as [keyof ShareOptions, Column<unknown>][];
const names = all.map(([, { name }]) => name);
const INSERT = `INSERT INTO shares (volume, ${names.join(', ')}) VALUES (:volume, ${names.map((name) => `:${name}`).join(', ')})`;
const UPDATE = `UPDATE shares SET ${names.map((name) => `${name} = :${name}`).join(', ')} WHERE volume = :volume`;

type ShareRow = Readonly<Record<string, SqlValue>> & { readonly volume: string };

function valuesOf(options: ShareOptions): Record<string, SqlValue> {
  return Object.fromEntries(all.map(([option, { name, write }]) => [name, write(options[option])]));
}

function optionsOf(row: ShareRow): ShareOptions {
  const entries = all.map(([option, { name, read }]) => [option, read(row[name] ?? null)]);
  return Object.fromEntries(entries) as ShareOptions;
}

export function insertShare(tx: Tx, { volume, options, exportNames }: Share): void {
  tx.run(INSERT, { volume, ...valuesOf(options) });
  writeExportNames(tx, volume, exportNames);
}

export function updateShareOptions(tx: Tx, volume: string, options: ShareOptions): void {
  tx.run(UPDATE, { volume, ...valuesOf(options) });
}

/** In this order; the first is the primary one. */
export function writeExportNames(tx: Tx, volume: string, exportNames: readonly string[]): void {
  tx.run('DELETE FROM export_names WHERE volume = :volume', { volume });
  for (const [position, name] of exportNames.entries())
    tx.run('INSERT INTO export_names (volume, position, name) VALUES (:volume, :position, :name)', {
      volume,
      position,
      name,
    });
}

export function deleteShare(tx: Tx, volume: string): void {
  tx.run('DELETE FROM export_names WHERE volume = :volume', { volume });
  tx.run('DELETE FROM shares WHERE volume = :volume', { volume });
}

export function findShare(db: Db, volume: string): Share | undefined {
  return findShares(db, [volume]).get(volume);
}

/** Those of these volumes that are shares. */
export function findShares(db: Db, volumes: readonly string[]): ReadonlyMap<string, Share> {
  const among = { volumes: JSON.stringify(volumes) };
  const rows = db.all<ShareRow>('SELECT * FROM shares WHERE volume IN (SELECT value FROM json_each(:volumes))', among);
  if (rows.length === 0) return new Map();
  const exported = Map.groupBy(
    db.all<{ volume: string; name: string }>(
      `SELECT volume, name FROM export_names WHERE volume IN (SELECT value FROM json_each(:volumes))
       ORDER BY volume, position`,
      among,
    ),
    ({ volume }) => volume,
  );
  return new Map(
    rows.map((row) => {
      const exportNames = (exported.get(row.volume) ?? []).map(({ name }) => name);
      return [row.volume, { volume: row.volume, options: optionsOf(row), exportNames }];
    }),
  );
}

/** The volume whose share is exported under that name, in whatever case. */
export function findExportHolder(db: Db, name: string): string | undefined {
  const sql = 'SELECT volume FROM export_names WHERE name = :name COLLATE NOCASE AND is_held = 1';
  return db.get<{ volume: string }>(sql, { name })?.volume;
}

/** The share remembers its names, and others may have them. */
export function releaseExportNames(tx: Tx, volume: string): void {
  tx.run('UPDATE export_names SET is_held = 0 WHERE volume = :volume', { volume });
}

/** Those that are there to be served: ready, and no mirror writes to them. */
export function listServable(db: Db): string[] {
  const sql = `SELECT name FROM volumes WHERE kind = 'file' AND state = 'ready' AND mirror_job IS NULL ORDER BY name`;
  return db.all<{ name: string }>(sql).map(({ name }) => name);
}

export function isServable(db: Db, volume: string): boolean {
  const sql = `SELECT 1 FROM volumes
    WHERE name = :volume AND kind = 'file' AND state = 'ready' AND mirror_job IS NULL`;
  return db.get(sql, { volume }) !== undefined;
}

export interface NfsClientRow {
  readonly server: string;
  readonly address: string;
  readonly read_only: number;
}

/** The servers it is attached to over NFS. */
export function listNfsClients(db: Db, volume: string): NfsClientRow[] {
  return db.all<NfsClientRow>(
    `SELECT a.server, s.address, a.read_only FROM attachments AS a JOIN servers AS s ON s.name = a.server
     WHERE a.volume = :volume AND a.access_type = 'NFS' AND s.address IS NOT NULL ORDER BY a.server`,
    { volume },
  );
}

export function hasNfsClients(db: Db, volume: string): boolean {
  return db.get(`SELECT 1 FROM attachments WHERE volume = :volume AND access_type = 'NFS'`, { volume }) !== undefined;
}

/** The shares attached to a server, over whatever protocol. */
export function listSharesOfServer(db: Db, server: string): string[] {
  const sql = `SELECT volume FROM attachments WHERE server = :server AND access_type <> 'ISCSI' ORDER BY volume`;
  return db.all<{ volume: string }>(sql, { server }).map(({ volume }) => volume);
}

export interface ShownSnapshotRow {
  readonly name: string;
  readonly display_name: string;
}

export function listShownSnapshots(db: Db, volume: string): ShownSnapshotRow[] {
  const sql = `SELECT name, display_name FROM snapshots WHERE volume = :volume AND state = 'ready' ORDER BY created_at, name`;
  return db.all<ShownSnapshotRow>(sql, { volume });
}
