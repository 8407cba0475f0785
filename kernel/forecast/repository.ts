import type { Db, Tx } from '../store/index.ts';
import type { CapacityPoint } from './fit.ts';

export interface KeptPoint extends CapacityPoint {
  readonly id: string;
}

export function putPoint(tx: Tx, kind: string, { id, at, usedBytes }: KeptPoint): void {
  tx.run('INSERT OR REPLACE INTO capacity_points (kind, id, at, used_bytes) VALUES (:kind, :id, :at, :usedBytes)', {
    kind,
    id,
    at,
    usedBytes,
  });
}

/** Of these things, each one's points in the order of time. */
export function listPoints(db: Db, kind: string, ids: readonly string[]): KeptPoint[] {
  const sql = `SELECT id, at, used_bytes AS usedBytes FROM capacity_points
    WHERE kind = :kind AND id IN (SELECT value FROM json_each(:ids)) ORDER BY id, at`;
  return db.all(sql, { kind, ids: JSON.stringify(ids) });
}

/** The newest point of each thing: two seeks for each, not a walk over all points. */
export function lastPoints(db: Db, kind: string): KeptPoint[] {
  const sql = `
    WITH RECURSIVE things (id) AS (
      SELECT min(id) FROM capacity_points WHERE kind = :kind
      UNION ALL
      SELECT (SELECT min(id) FROM capacity_points WHERE kind = :kind AND id > things.id) FROM things WHERE id IS NOT NULL
    )
    SELECT p.id, p.at, p.used_bytes AS usedBytes FROM things JOIN capacity_points AS p
      ON p.kind = :kind AND p.id = things.id
        AND p.at = (SELECT max(at) FROM capacity_points WHERE kind = :kind AND id = things.id)`;
  return db.all(sql, { kind });
}

export function deletePointsOf(tx: Tx, kind: string, id: string): void {
  tx.run('DELETE FROM capacity_points WHERE kind = :kind AND id = :id', { kind, id });
}

interface Span {
  readonly from: number;
  readonly before: number;
  readonly step: number;
}

/** Of the points between two moments the last one of each stretch of time stays, and the very first. */
export function thinPoints(tx: Tx, kind: string, ids: readonly string[], span: Span): void {
  tx.run(
    `DELETE FROM capacity_points AS p
     WHERE kind = :kind AND id IN (SELECT value FROM json_each(:ids)) AND at >= :from AND at < :before
       AND EXISTS (SELECT 1 FROM capacity_points AS later WHERE later.kind = p.kind AND later.id = p.id
                   AND later.at > p.at AND later.at < (CAST(p.at / :step AS INTEGER) + 1) * :step)
       AND EXISTS (SELECT 1 FROM capacity_points AS earlier WHERE earlier.kind = p.kind AND earlier.id = p.id
                   AND earlier.at < p.at)`,
    { kind, ids: JSON.stringify(ids), ...span },
  );
}

/** The last point before that moment stays: it says how it was then. */
export function deletePointsBefore(tx: Tx, kind: string, ids: readonly string[], before: number): void {
  tx.run(
    `DELETE FROM capacity_points AS p
     WHERE kind = :kind AND id IN (SELECT value FROM json_each(:ids)) AND at < :before
       AND EXISTS (SELECT 1 FROM capacity_points AS later WHERE later.kind = p.kind AND later.id = p.id
                   AND later.at > p.at AND later.at <= :before)`,
    { kind, ids: JSON.stringify(ids), before },
  );
}
