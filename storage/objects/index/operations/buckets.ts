import type { BucketSettings } from '../../bucket-settings.ts';
import { ObjectError } from '../../errors.ts';
import type { Arguments } from '../../operations.ts';
import type { Bucket } from '../../records.ts';
import { bucketOf, type BucketRow, type KnownBucket } from '../rows.ts';
import { bucketRow, type Change } from './change.ts';
import { report } from './notifications.ts';
import { abandonUpload } from './uploads.ts';

export function createBucket(change: Change, args: Arguments<'createBucket'>): Bucket {
  const { db, tally } = change;
  const { account, name, policy, lockable, settings, at } = args;
  const taken = db.get('SELECT id FROM buckets WHERE account = ? AND name = ?', account, name);
  if (taken) throw new ObjectError('bucket-exists', 'The account has a bucket of that name.');
  const row = db.get<BucketRow>(
    `INSERT INTO buckets (account, name, policy, created_at, versioning, lockable, settings)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    account,
    name,
    policy,
    at,
    lockable ? 'enabled' : 'off',
    Number(lockable),
    JSON.stringify(settings),
  );
  if (!row) throw new Error('A bucket could not be made');
  tally.step({ bucket: row.id, account, policy, objects: 0, bytes: 0, buckets: 1, at });
  change.bucketsChanged();
  return bucketOf(row);
}

export function changeBucket(change: Change, args: Arguments<'changeBucket'>): Bucket {
  const row = bucketRow(change, args.bucket);
  const { seen } = args;
  if (seen && (JSON.stringify(seen.settings) !== row.settings || seen.versioning !== row.versioning)) {
    throw new ObjectError('precondition-failed', 'The bucket was changed meanwhile.');
  }
  const versioning = args.versioning ?? row.versioning;
  const lockable = row.lockable === 1 || args.lockable === true;
  if (lockable && versioning !== 'enabled') {
    throw new ObjectError('invalid-state', 'Object lock needs versioning, which cannot be suspended while it is on.');
  }
  const settings = { ...(JSON.parse(row.settings) as BucketSettings), ...args.settings } as BucketSettings;
  const changed = change.db.get<BucketRow>(
    'UPDATE buckets SET versioning = ?, lockable = ?, settings = ? WHERE id = ? RETURNING *',
    versioning,
    Number(lockable),
    JSON.stringify(settings),
    row.id,
  );
  change.bucketsChanged();
  if (!changed) throw new Error('A bucket that is there could not be changed');
  const { testsNotifications: cause, at } = args;
  if (cause) report(change, changed, { event: 'TestEvent', key: '', sequence: change.nextSequence(), at, cause });
  return bucketOf(changed);
}

export function deleteBucket(change: Change, args: Arguments<'deleteBucket'>): null {
  const { db } = change;
  const row = bucketRow(change, args.bucket);
  for (const table of ['objects', 'versions']) {
    if (!db.get(`SELECT 1 FROM ${table} WHERE bucket = ? LIMIT 1`, row.id)) continue;
    throw new ObjectError('bucket-not-empty', 'The bucket holds objects, versions or delete markers.');
  }
  const uploads = db.all<{ id: string }>('SELECT id FROM uploads WHERE bucket = ?', row.id);
  if (uploads.length > 0 && args.force !== true) {
    throw new ObjectError('bucket-not-empty', 'The bucket has unfinished uploads.');
  }
  for (const { id } of uploads) abandonUpload(change, id);
  dropBucket(change, row, args.at);
  return null;
}

export function dropBucket(change: Change, { id, account, policy }: KnownBucket, at: number): void {
  const { db, tally } = change;
  db.run('DELETE FROM buckets WHERE id = ?', id);
  change.bucketsChanged();
  tally.step({ bucket: id, account, policy, objects: 0, bytes: 0, buckets: -1, at });
}
