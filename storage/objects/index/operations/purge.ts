import type { Reads } from '@granary/kernel/sqlite';
import type { Arguments, Result } from '../../operations.ts';
import { BUCKET_COLUMNS, policyOfRow, VERSION_COLUMNS, type KnownBucket, type VersionRow } from '../rows.ts';
import { release, collectManifests } from './blobs.ts';
import { dropBucket } from './buckets.ts';
import { count, type Change } from './change.ts';
import { abandonUpload, collectUploads } from './uploads.ts';

const GARBAGE_STEP = 500;

/** Frees a step's worth of what was given up; whether there may be more. */
export function collectGarbage(change: Change): boolean {
  return collectUploads(change, GARBAGE_STEP) > 0 || collectManifests(change, GARBAGE_STEP) > 0;
}

export function hasGarbage(db: Reads): boolean {
  const sql = 'SELECT 1 FROM given_up_uploads UNION ALL SELECT 1 FROM manifests WHERE refs = 0 LIMIT 1';
  return db.get(sql) !== undefined;
}

/** Locks keep nothing here: the account itself is going. */
export function purgeAccount(change: Change, args: Arguments<'purgeAccount'>): Result<'purgeAccount'> {
  const { account, at } = args;
  let left = Math.max(1, args.limit);
  while (left > 0) {
    const bucket = firstBucket(change, account);
    if (!bucket) break;
    left -= purgeVersions(change, bucket, 'objects', left, at);
    left -= purgeVersions(change, bucket, 'versions', left, at);
    left -= purgeUploads(change, bucket, left);
    if (left === 0) break;
    dropBucket(change, bucket, at);
    left -= 1;
  }
  const done = !firstBucket(change, account);
  if (done) change.db.run('DELETE FROM notifications WHERE account = ?', account);
  return { removed: Math.max(1, args.limit) - left, done };
}

export function dropUsage({ db }: Change, { account }: Arguments<'dropUsage'>): Result<'dropUsage'> {
  db.run('DELETE FROM stored WHERE account = ?', account);
  db.run('DELETE FROM usage WHERE account = ? AND buckets = 0 AND objects = 0 AND bytes = 0', account);
  return null;
}

const FIRST_BUCKET = `SELECT ${BUCKET_COLUMNS} FROM buckets WHERE account = ? ORDER BY name LIMIT 1`;

function firstBucket({ db }: Change, account: string): KnownBucket | undefined {
  return db.get<KnownBucket>(FIRST_BUCKET, account);
}

function purgeVersions(
  change: Change,
  bucket: KnownBucket,
  table: 'objects' | 'versions',
  limit: number,
  at: number,
): number {
  const { db } = change;
  const columns = table === 'objects' ? VERSION_COLUMNS : `${VERSION_COLUMNS}, marker`;
  const rows = db.all<VersionRow>(`SELECT ${columns} FROM ${table} WHERE bucket = ? LIMIT ?`, bucket.id, limit);
  let objects = 0;
  for (const row of rows) {
    db.run(`DELETE FROM ${table} WHERE bucket = ? AND key = ? AND sequence = ?`, bucket.id, row.key, row.sequence);
    if (row.marker === 1) continue;
    release(change, row);
    objects += 1;
    count(change, bucket, policyOfRow(bucket, row), { objects: -1, bytes: -row.size, at });
  }
  if (table === 'versions') change.tally.hide(bucket.id, -objects);
  return rows.length;
}

function purgeUploads(change: Change, bucket: KnownBucket, limit: number): number {
  const rows = change.db.all<{ id: string }>('SELECT id FROM uploads WHERE bucket = ? LIMIT ?', bucket.id, limit);
  for (const { id } of rows) abandonUpload(change, id);
  return rows.length;
}
