import { json, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { ScannedShare, ScannedShareRecord, ScanState } from './scanned-share.ts';

const shares = new Table<ScannedShare>('lifecycle_shares', {
  volume: plain('volume'),
  state: plain('state'),
  lastRunAt: plain('last_run_at'),
  scan: json('scan'),
  modifiedAt: plain('modified_at'),
});

export function findShare(db: Db, volume: string): ScannedShare | undefined {
  return shares.get(db, `SELECT ${shares.fields()} FROM lifecycle_shares WHERE volume = :volume`, { volume });
}

export function setState(tx: Tx, volume: string, state: ScannedShare['state'], now: number): void {
  tx.run(
    `INSERT INTO lifecycle_shares (volume, state, last_run_at, modified_at) VALUES (:volume, :state, :now, :now)
     ON CONFLICT DO UPDATE SET state = :state, modified_at = :now`,
    { volume, state, now },
  );
}

/** With the share itself. */
export function removeScannedShare(tx: Tx, volume: string): void {
  tx.run('DELETE FROM lifecycle_shares WHERE volume = :volume', { volume });
}

export function saveScan(tx: Tx, volume: string, scan: ScanState | undefined): void {
  shares.update(tx, { volume }, { scan: scan ?? null });
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

export function listRecords(db: Db): ScannedShareRecord[] {
  return shares.all<Pick<ScannedShareRecord, 'names' | 'displayNames'>>(
    db,
    `SELECT ${shares.fields('s')},
       group_concat(p.name, ',' ORDER BY p.display_name, p.name) AS names,
       group_concat(p.display_name, ',' ORDER BY p.display_name, p.name) AS displayNames
     FROM lifecycle_shares AS s LEFT JOIN lifecycle_rules AS r ON r.volume = s.volume
       LEFT JOIN lifecycle_policies AS p ON p.name = r.policy
     GROUP BY s.volume`,
  );
}
