import type { IndexDb } from '../index/database.ts';
import type { Problems } from './problems.ts';

/** Everything that names a blob, and everything that names a manifest. */
const BLOB_NAMES = `
  SELECT partition, blob AS id FROM objects WHERE blob IS NOT NULL
  UNION ALL SELECT partition, blob FROM versions WHERE blob IS NOT NULL
  UNION ALL SELECT partition, blob FROM parts WHERE blob IS NOT NULL
  UNION ALL SELECT partition, blob FROM manifest_blobs`;
const MANIFEST_NAMES = `
  SELECT manifest FROM objects WHERE manifest IS NOT NULL
  UNION ALL SELECT manifest FROM versions WHERE manifest IS NOT NULL
  UNION ALL SELECT manifest FROM parts WHERE manifest IS NOT NULL`;
const HOLDERS = `
  SELECT 'object ' || bucket || '/' || key AS who, size, partition, blob, manifest FROM objects
  UNION ALL SELECT 'version ' || bucket || '/' || key || '#' || sequence, size, partition, blob, manifest FROM versions
    WHERE marker = 0
  UNION ALL SELECT 'part ' || upload || '/' || number, size, partition, blob, manifest FROM parts`;

/** Whether whatever is named is there, is named as often as it says, and has the size its owner says. */
export function checkReferences(db: IndexDb, problems: Problems): void {
  checkBlobs(db, problems);
  checkManifests(db, problems);
  checkSizes(db, problems);
  checkHomes(db, problems);
}

/** Whether counters of buckets and accounts are the sums of what is there. */
export function checkCounters(db: IndexDb, problems: Problems): void {
  const buckets = db.iterate<{ id: number; objects: number; bytes: number; count: number; sum: number }>(
    `SELECT b.id, b.objects, b.bytes, coalesce(c.count, 0) AS count, coalesce(c.sum, 0) AS sum FROM buckets b
     LEFT JOIN (SELECT bucket, count(*) AS count, sum(size) AS sum FROM
       (SELECT bucket, size FROM objects UNION ALL SELECT bucket, size FROM versions WHERE marker = 0)
       GROUP BY bucket) c ON c.bucket = b.id
     WHERE b.objects <> coalesce(c.count, 0) OR b.bytes <> coalesce(c.sum, 0)`,
  );
  for (const { id, objects, bytes, count, sum } of buckets) {
    problems.add('counter', `bucket ${id} says ${objects} objects of ${bytes} bytes; there are ${count} of ${sum}`);
  }
  const accounts = db.iterate<{ account: string; policy: number }>(
    `WITH real AS (SELECT account, policy, count(*) AS buckets, sum(objects) AS objects, sum(bytes) AS bytes
       FROM buckets GROUP BY account, policy)
     SELECT coalesce(u.account, r.account) AS account, coalesce(u.policy, r.policy) AS policy
     FROM usage u FULL JOIN real r ON r.account = u.account AND r.policy = u.policy
     WHERE coalesce(u.buckets, 0) <> coalesce(r.buckets, 0) OR coalesce(u.objects, 0) <> coalesce(r.objects, 0)
       OR coalesce(u.bytes, 0) <> coalesce(r.bytes, 0)`,
  );
  for (const { account, policy } of accounts) {
    problems.add('counter', `usage of account ${account} under policy ${policy} is not the sum of its buckets`);
  }
}

function checkBlobs(db: IndexDb, problems: Problems): void {
  const wrong = db.iterate<{ partition: number; id: Uint8Array; named: number; refs: number | null }>(
    `SELECT n.partition, n.id, n.named, b.refs FROM
       (SELECT partition, id, count(*) AS named FROM (${BLOB_NAMES}) GROUP BY partition, id) n
     LEFT JOIN blobs b ON b.partition = n.partition AND b.id = n.id WHERE b.refs IS NULL OR b.refs <> n.named`,
  );
  for (const { partition, id, named, refs } of wrong) {
    const says = refs === null ? 'and is not there' : `where it says ${refs}`;
    problems.add('reference', `blob ${nameOf(partition, id)} is named ${named} times ${says}`);
  }
  const orphans = db.iterate<{ partition: number; id: Uint8Array }>(
    `SELECT partition, id FROM blobs EXCEPT SELECT partition, id FROM (${BLOB_NAMES})`,
  );
  for (const { partition, id } of orphans) {
    problems.add('reference', `blob ${nameOf(partition, id)} belongs to nobody`);
  }
}

function checkManifests(db: IndexDb, problems: Problems): void {
  const wrong = db.iterate<{ id: number; named: number; refs: number | null }>(
    `SELECT coalesce(m.id, n.manifest) AS id, coalesce(n.named, 0) AS named, m.refs FROM manifests m
     FULL JOIN (SELECT manifest, count(*) AS named FROM (${MANIFEST_NAMES}) GROUP BY manifest) n ON n.manifest = m.id
     WHERE m.refs IS NULL OR m.refs <> coalesce(n.named, 0)`,
  );
  for (const { id, named, refs } of wrong) {
    problems.add('reference', `manifest ${id} is named ${named} times; it says ${refs ?? 'nothing: it is not there'}`);
  }
  const stray = db.iterate<{ manifest: number }>(
    'SELECT DISTINCT manifest FROM manifest_blobs WHERE manifest NOT IN (SELECT id FROM manifests)',
  );
  for (const { manifest } of stray) problems.add('reference', `blobs of manifest ${manifest}, which is not there`);
  const gaps = db.iterate<{ manifest: number; start: number }>(
    `SELECT manifest, start FROM (SELECT manifest, start,
       coalesce(lag(start + size) OVER (PARTITION BY manifest ORDER BY start), 0) AS expected FROM manifest_blobs
       WHERE manifest IN (SELECT id FROM manifests WHERE refs > 0)) WHERE start <> expected`,
  );
  for (const { manifest, start } of gaps) problems.add('reference', `manifest ${manifest} has a gap before ${start}`);
}

function checkSizes(db: IndexDb, problems: Problems): void {
  const wrong = db.iterate<{ who: string; size: number; found: number | null }>(
    `SELECT h.who, h.size, CASE WHEN h.manifest IS NOT NULL
         THEN (SELECT sum(size) FROM manifest_blobs m WHERE m.manifest = h.manifest)
       WHEN h.blob IS NOT NULL THEN (SELECT size FROM blobs b WHERE b.partition = h.partition AND b.id = h.blob)
       ELSE 0 END AS found
     FROM (${HOLDERS}) h WHERE found IS NOT h.size`,
  );
  for (const { who, size, found } of wrong) {
    problems.add('reference', `${who} has ${found ?? 'no'} bytes where it says ${size}`);
  }
}

function checkHomes(db: IndexDb, problems: Problems): void {
  for (const table of ['objects', 'versions', 'uploads']) {
    const stray = db.iterate<{ bucket: number }>(
      `SELECT DISTINCT bucket FROM ${table} WHERE bucket NOT IN (SELECT id FROM buckets)`,
    );
    for (const { bucket } of stray) problems.add('reference', `${table} of bucket ${bucket}, which is not there`);
  }
  const parts = db.iterate<{ upload: string }>(
    'SELECT DISTINCT upload FROM parts WHERE upload NOT IN (SELECT id FROM uploads)',
  );
  for (const { upload } of parts) problems.add('reference', `parts of upload ${upload}, which is not there`);
}

function nameOf(partition: number, id: Uint8Array): string {
  return `${partition}/${Buffer.from(id).toString('hex')}`;
}
