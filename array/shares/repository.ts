import { bestFirst, flag, likeAny, likeParams, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ShareOptions } from './options.ts';

/** A share as it is on record, beside its volume. */
export interface Share {
  readonly volume: string;
  readonly options: ShareOptions;
  /** The first is the primary one. */
  readonly exportNames: readonly string[];
}

interface ShareRecord extends ShareOptions {
  readonly volume: string;
}

const shares = new Table<ShareRecord>('shares', {
  volume: plain('volume'),
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
});

export function insertShare(tx: Tx, { volume, options, exportNames }: Share): void {
  shares.insert(tx, { ...options, volume });
  writeExportNames(tx, volume, exportNames);
}

export function updateShareOptions(tx: Tx, volume: string, options: ShareOptions): void {
  shares.update(tx, { volume }, options);
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

export interface ExportName {
  readonly volume: string;
  readonly name: string;
}

/** Export names with a text in them, best first. */
export function searchExportNames(db: Db, text: string, limit: number): ExportName[] {
  const sql = `SELECT volume, name FROM export_names WHERE ${likeAny('name')} ORDER BY ${bestFirst('name')}`;
  return db.all(sql, likeParams(text, limit));
}

export function findShare(db: Db, volume: string): Share | undefined {
  return findShares(db, [volume]).get(volume);
}

/** Those of these volumes that are shares. */
export function findShares(db: Db, volumes: readonly string[]): ReadonlyMap<string, Share> {
  const among = { volumes: JSON.stringify(volumes) };
  const found = shares.all(
    db,
    `SELECT ${shares.fields()} FROM shares WHERE volume IN (SELECT value FROM json_each(:volumes))`,
    among,
  );
  if (found.length === 0) return new Map();
  const exported = Map.groupBy(
    db.all<{ volume: string; name: string }>(
      `SELECT volume, name FROM export_names WHERE volume IN (SELECT value FROM json_each(:volumes))
       ORDER BY volume, position`,
      among,
    ),
    ({ volume }) => volume,
  );
  return new Map(
    found.map(({ volume, ...options }) => {
      const exportNames = (exported.get(volume) ?? []).map(({ name }) => name);
      return [volume, { volume, options, exportNames }];
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
