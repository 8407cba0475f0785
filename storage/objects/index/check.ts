import type { Reads } from '@granary/kernel/sqlite';
import { unpackPlaces } from './places.ts';
import type { BlobRow } from './rows.ts';

const PROBLEMS_MAX = 1000;

/**
 * What in the index does not agree with itself: counters with a recount, shares of blobs with who holds them, live
 * bytes with what lives, and the order of versions. Reads all of it; meant for an index without a writer.
 */
export function checkIndex(db: Reads): string[] {
  const problems: string[] = [];
  for (const check of [
    checkBuckets,
    checkUsage,
    checkBlobRefs,
    checkManifestRefs,
    checkVersions,
    checkOrphans,
    checkLive,
  ]) {
    for (const problem of check(db)) {
      if (problems.length >= PROBLEMS_MAX) return problems;
      problems.push(problem);
    }
  }
  return problems;
}

function* checkBuckets(db: Reads): Generator<string> {
  const sql = `
    WITH held AS (SELECT bucket, size, 0 AS hidden FROM objects
        UNION ALL SELECT bucket, size, 1 FROM versions WHERE marker = 0),
      counted AS (SELECT bucket, count(*) AS objects, sum(size) AS bytes, sum(hidden) AS noncurrent FROM held GROUP BY bucket)
    SELECT b.id, b.objects, b.bytes, b.noncurrent, coalesce(c.objects, 0) AS countedObjects,
      coalesce(c.bytes, 0) AS countedBytes, coalesce(c.noncurrent, 0) AS countedNoncurrent
    FROM buckets b LEFT JOIN counted c ON c.bucket = b.id
    WHERE b.objects <> countedObjects OR b.bytes <> countedBytes OR b.noncurrent <> countedNoncurrent`;
  for (const row of db.iterate<Record<string, number>>(sql)) {
    yield `bucket ${row.id}: ${row.objects} objects of ${row.bytes} bytes on record, ${row.noncurrent} not current, ` +
      `${row.countedObjects} of ${row.countedBytes} there, ${row.countedNoncurrent} not current`;
  }
}

function* checkUsage(db: Reads): Generator<string> {
  // Objects count under the policy that has their bytes, which may be another than that of their bucket.
  const counted = `
    SELECT account, policy, sum(buckets) AS buckets, sum(objects) AS objects, sum(bytes) AS bytes FROM (
      SELECT account, policy, 1 AS buckets, 0 AS objects, 0 AS bytes FROM buckets
      UNION ALL SELECT account, coalesce(json_extract(attributes, '$.policy'), policy), 0, 1, size
        FROM buckets JOIN objects ON objects.bucket = buckets.id
      UNION ALL SELECT account, coalesce(json_extract(attributes, '$.policy'), policy), 0, 1, size
        FROM buckets JOIN versions ON versions.bucket = buckets.id AND marker = 0)
    GROUP BY account, policy`;
  const recorded =
    'SELECT account, policy, buckets, objects, bytes FROM usage WHERE buckets <> 0 OR objects <> 0 OR bytes <> 0';
  for (const [one, other] of [
    [counted, recorded],
    [recorded, counted],
  ]) {
    const sql = `SELECT account, policy FROM (SELECT * FROM (${one}) EXCEPT SELECT * FROM (${other}))`;
    for (const { account, policy } of db.iterate<{ account: string; policy: number }>(sql)) {
      yield `account ${account}, policy ${policy}: usage differs from the sum of its buckets`;
    }
  }
}

function* checkBlobRefs(db: Reads): Generator<string> {
  const sql = `
    SELECT partition, hex(id) AS id, sum(shares) AS refs, sum(held) AS counted FROM (
      SELECT partition, id, refs AS shares, 0 AS held FROM blobs
      UNION ALL SELECT partition, blob, 0, 1 FROM objects WHERE blob IS NOT NULL
      UNION ALL SELECT partition, blob, 0, 1 FROM versions WHERE blob IS NOT NULL
      UNION ALL SELECT partition, blob, 0, 1 FROM parts WHERE blob IS NOT NULL
      UNION ALL SELECT partition, blob, 0, 1 FROM manifest_blobs)
    GROUP BY partition, id HAVING refs <> counted OR counted = 0`;
  for (const row of db.iterate<{ partition: number; id: string; refs: number; counted: number }>(sql)) {
    yield `blob ${row.id} of partition ${row.partition}: ${row.refs} shares on record, ${row.counted} held`;
  }
}

/** A manifest without shares is being freed. */
function* checkManifestRefs(db: Reads): Generator<string> {
  const sql = `
    SELECT id, sum(shares) AS refs, sum(held) AS counted FROM (
      SELECT id, refs AS shares, 0 AS held FROM manifests
      UNION ALL SELECT manifest, 0, 1 FROM objects WHERE manifest IS NOT NULL
      UNION ALL SELECT manifest, 0, 1 FROM versions WHERE manifest IS NOT NULL
      UNION ALL SELECT manifest, 0, 1 FROM parts WHERE manifest IS NOT NULL)
    GROUP BY id HAVING refs <> counted`;
  for (const row of db.iterate<{ id: number; refs: number; counted: number }>(sql)) {
    yield `manifest ${row.id}: ${row.refs} shares on record, ${row.counted} held`;
  }
}

/** The current version of a key is its newest; without one the newest is a delete marker; at most one has no id. */
function* checkVersions(db: Reads): Generator<string> {
  const checks = {
    'a noncurrent version is newer than the current one': `
      SELECT v.bucket, v.key FROM versions v JOIN objects o ON o.bucket = v.bucket AND o.key = v.key
      WHERE v.sequence >= o.sequence`,
    'no version is current, but the newest is no delete marker': `
      SELECT bucket, key FROM (SELECT bucket, key, marker, max(sequence) FROM versions v GROUP BY bucket, key)
      v WHERE marker = 0 AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.bucket = v.bucket AND o.key = v.key)`,
    'more than one version has no id': `
      SELECT bucket, key FROM (
        SELECT bucket, key FROM objects WHERE versioned = 0
        UNION ALL SELECT bucket, key FROM versions WHERE versioned = 0)
      GROUP BY bucket, key HAVING count(*) > 1`,
  };
  for (const [problem, sql] of Object.entries(checks)) {
    for (const { bucket, key } of db.iterate<{ bucket: number; key: string }>(sql)) {
      yield `bucket ${bucket}, key ${JSON.stringify(key)}: ${problem}`;
    }
  }
}

function* checkOrphans(db: Reads): Generator<string> {
  for (const table of ['objects', 'versions', 'uploads']) {
    const sql = `SELECT DISTINCT bucket FROM ${table} WHERE bucket NOT IN (SELECT id FROM buckets)`;
    for (const { bucket } of db.iterate<{ bucket: number }>(sql)) yield `${table} of bucket ${bucket}, which is gone`;
  }
  const parts = `SELECT DISTINCT upload FROM parts WHERE upload NOT IN (
                   SELECT id FROM uploads UNION ALL SELECT upload FROM given_up_uploads)`;
  for (const { upload } of db.iterate<{ upload: string }>(parts)) yield `parts of upload ${upload}, which is gone`;
  const blobs = 'SELECT DISTINCT manifest FROM manifest_blobs WHERE manifest NOT IN (SELECT id FROM manifests)';
  for (const { manifest } of db.iterate<{ manifest: number }>(blobs))
    yield `blobs of manifest ${manifest}, which is gone`;
}

function* checkLive(db: Reads): Generator<string> {
  const live = new Map<string, number>();
  const sql = 'SELECT piece_bytes, places FROM blobs';
  for (const { places, piece_bytes: bytes } of db.iterate<Pick<BlobRow, 'piece_bytes' | 'places'>>(sql)) {
    for (const place of unpackPlaces(places)) {
      if (!place) continue;
      const segment = `${place.drive}/${place.segment}`;
      live.set(segment, (live.get(segment) ?? 0) + bytes);
    }
  }
  for (const row of db.iterate<{ segment: string; live: number }>(
    "SELECT drive || '/' || segment AS segment, live FROM segments",
  )) {
    const found = live.get(row.segment) ?? 0;
    live.delete(row.segment);
    if (found !== row.live) yield `segment ${row.segment}: ${row.live} live bytes on record, ${found} there`;
  }
  for (const [segment, bytes] of live) yield `segment ${segment}: no live bytes on record, ${bytes} there`;
}
