import type { Reads } from '@granary/kernel/sqlite';
import type { Problems } from './problems.ts';

const HOLDERS = `
  SELECT 'object ' || bucket || '/' || key AS who, size, partition, blob, manifest FROM objects
  UNION ALL SELECT 'version ' || bucket || '/' || key || '#' || sequence, size, partition, blob, manifest FROM versions
    WHERE marker = 0
  UNION ALL SELECT 'part ' || upload || '/' || number, size, partition, blob, manifest FROM parts`;

/** Whether the bytes of every object, version and part are as many as it says, without gaps. */
export function checkContents(db: Reads, problems: Problems): void {
  const wrong = db.iterate<{ who: string; size: number; found: number | null }>(
    `SELECT h.who, h.size, CASE WHEN h.manifest IS NOT NULL
         THEN (SELECT sum(size) FROM manifest_blobs m WHERE m.manifest = h.manifest)
       WHEN h.blob IS NOT NULL THEN (SELECT size FROM blobs b WHERE b.partition = h.partition AND b.id = h.blob)
       ELSE 0 END AS found
     FROM (${HOLDERS}) h WHERE found IS NOT h.size`,
  );
  for (const { who, size, found } of wrong) {
    problems.add('content', `${who} has ${found ?? 'no'} bytes where it says ${size}`);
  }
  const gaps = db.iterate<{ manifest: number; start: number }>(
    `SELECT manifest, start FROM (SELECT manifest, start,
       coalesce(lag(start + size) OVER (PARTITION BY manifest ORDER BY start), 0) AS expected FROM manifest_blobs
       WHERE manifest IN (SELECT id FROM manifests WHERE refs > 0)) WHERE start <> expected`,
  );
  for (const { manifest, start } of gaps) problems.add('content', `manifest ${manifest} has a gap before ${start}`);
}
