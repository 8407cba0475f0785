import type { Db, Tx } from '@granary/kernel';
import type { SetMember } from './member.ts';

export function insertSet(tx: Tx, id: string, now: number): void {
  tx.run('INSERT INTO snapshot_sets (id, created_at) VALUES (:id, :now)', { id, now });
}

export function insertMember(tx: Tx, id: string, volume: string, snapshot: string): void {
  const sql = 'INSERT INTO snapshot_set_members (snapshot_set, volume, snapshot) VALUES (:id, :volume, :snapshot)';
  tx.run(sql, { id, volume, snapshot });
}

export function isSet(db: Db, id: string): boolean {
  return db.get('SELECT 1 FROM snapshot_sets WHERE id = :id', { id }) !== undefined;
}

export function countSets(db: Db): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM snapshot_sets')?.n ?? 0;
}

/** Snapshots and clones that are gone meanwhile are left out: names do not return. */
export function listMembers(db: Db, id: string): SetMember[] {
  return db.all<SetMember>(
    `SELECT m.volume, s.name AS snapshot, v.name AS clone FROM snapshot_set_members AS m
     LEFT JOIN snapshots AS s ON s.name = m.snapshot AND s.state = 'ready'
     LEFT JOIN volumes AS v ON v.name = m.clone AND v.state IN ('creating', 'ready')
     WHERE m.snapshot_set = :id ORDER BY m.volume`,
    { id },
  );
}

/** The volumes that were snapshotted, and their clones, whether they are there or not. */
export function listSetVolumes(db: Db, id: string): { volume: string; clone: string | null }[] {
  return db.all('SELECT volume, clone FROM snapshot_set_members WHERE snapshot_set = :id', { id });
}

export function rememberClone(tx: Tx, id: string, volume: string, clone: string): void {
  const sql = 'UPDATE snapshot_set_members SET clone = :clone WHERE snapshot_set = :id AND volume = :volume';
  tx.run(sql, { id, volume, clone });
}

export function removeSet(tx: Tx, id: string): void {
  tx.run('DELETE FROM snapshot_sets WHERE id = :id', { id });
}
