import type { Db, Tx } from '@granary/kernel';

/** A scan that has begun, as far as it is on record: after a crash or a pause it goes on from there. */
export interface ScanState {
  /** Ages of files are counted up to then. */
  readonly startedAt: number;
  /** Everything up to this number was looked at. */
  readonly afterInode: number;
  readonly seenFiles: number;
  /** How many there were, as far as that was known. */
  readonly totalFiles: number;
  /** How long it took so far. */
  readonly spentMs: number;
  /** All of it was read from one snapshot: not after a pause or a crash. */
  readonly isOfOneMoment: boolean;
}

export interface ShareRow {
  readonly volume: string;
  readonly state: 'enabled' | 'paused' | 'disabled';
  readonly last_run_at: number;
  readonly scan: string | null;
}

export function findShare(db: Db, volume: string): ShareRow | undefined {
  return db.get<ShareRow>('SELECT * FROM lifecycle_shares WHERE volume = :volume', { volume });
}

export function setState(tx: Tx, volume: string, state: ShareRow['state'], now: number): void {
  tx.run(
    `INSERT INTO lifecycle_shares (volume, state, last_run_at, modified_at) VALUES (:volume, :state, :now, :now)
     ON CONFLICT DO UPDATE SET state = :state, modified_at = :now`,
    { volume, state, now },
  );
}

export function saveScan(tx: Tx, volume: string, scan: ScanState | undefined): void {
  const sql = 'UPDATE lifecycle_shares SET scan = :scan WHERE volume = :volume';
  tx.run(sql, { volume, scan: scan === undefined ? null : JSON.stringify(scan) });
}

export function markRun(tx: Tx, volume: string, at: number): void {
  tx.run('UPDATE lifecycle_shares SET last_run_at = max(last_run_at, :at) WHERE volume = :volume', { volume, at });
}

/** The times are others from now on. */
export function markAllRuns(tx: Tx, at: number): void {
  tx.run('UPDATE lifecycle_shares SET last_run_at = max(last_run_at, :at)', { at });
}

/** Shares that are there, have something to run, and were last looked at before a time that has come. */
export function findDue(db: Db, dueAt: number): string[] {
  return db
    .all<{ volume: string }>(
      `SELECT s.volume FROM lifecycle_shares AS s JOIN volumes AS v ON v.name = s.volume AND v.state = 'ready'
       WHERE s.state = 'enabled' AND s.last_run_at < :dueAt AND EXISTS (
         SELECT 1 FROM lifecycle_rules AS r JOIN lifecycle_policies AS p ON p.name = r.policy
         WHERE r.volume = s.volume AND r.is_paused = 0 AND p.is_enabled = 1)
       ORDER BY s.volume`,
      { dueAt },
    )
    .map(({ volume }) => volume);
}

/** Shares whose recycle bin may hold something: policies were run there at some time. */
export function findWithBin(db: Db): string[] {
  return db
    .all<{ volume: string }>(
      `SELECT s.volume FROM lifecycle_shares AS s JOIN volumes AS v ON v.name = s.volume AND v.state = 'ready'
       ORDER BY s.volume`,
    )
    .map(({ volume }) => volume);
}

/** For the record of a share. Names are comma lists, in the order of what people call them. */
export interface RecordRow {
  readonly volume: string;
  readonly state: ShareRow['state'];
  readonly scan: string | null;
  readonly names: string | null;
  readonly displayNames: string | null;
}

export function listRecords(db: Db): RecordRow[] {
  return db.all<RecordRow>(
    `SELECT s.volume, s.state, s.scan,
       group_concat(p.name, ',' ORDER BY p.display_name, p.name) AS names,
       group_concat(p.display_name, ',' ORDER BY p.display_name, p.name) AS displayNames
     FROM lifecycle_shares AS s LEFT JOIN lifecycle_rules AS r ON r.volume = s.volume
       LEFT JOIN lifecycle_policies AS p ON p.name = r.policy
     GROUP BY s.volume`,
  );
}
