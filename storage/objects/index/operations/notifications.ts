import type { BucketSettings } from '../../bucket-settings.ts';
import { notificationsOf, type Cause, type Happened, type ObjectEvent } from '../../notifications.ts';
import type { Arguments } from '../../operations.ts';
import type { WrittenVersion } from '../../records.ts';
import type { KnownBucket } from '../rows.ts';
import type { Change } from './change.ts';

/**
 * Queues what the rules of a bucket want to know of a change, in the transaction that makes it: a change that is
 * acknowledged is reported, whatever happens next.
 */
export function report(
  { db }: Change,
  bucket: Pick<KnownBucket, 'account' | 'name' | 'settings'>,
  happened: Happened,
): void {
  // Nearly all buckets have no rules: those are not read for it.
  if (!bucket.settings.includes('"notifications"')) return;
  const settings = JSON.parse(bucket.settings) as BucketSettings;
  for (const { account, address, seed, rule } of notificationsOf({ ...bucket, settings }, happened)) {
    db.run(
      `INSERT INTO notifications (account, bucket, address, seed, rule, happened, attempts, due_at)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?)`,
      account,
      bucket.name,
      address,
      seed,
      rule,
      JSON.stringify(happened),
      happened.at,
    );
  }
}

export function reportVersion(
  change: Change,
  bucket: KnownBucket,
  event: ObjectEvent,
  { key, sequence, size, etag, versionId }: WrittenVersion,
  { at, cause }: { readonly at: number; readonly cause?: Cause },
): void {
  report(change, bucket, { event, key, sequence, size, etag, versionId, at, ...(cause && { cause }) });
}

export function endNotifications({ db }: Change, { numbers }: Arguments<'endNotifications'>): null {
  for (const number of numbers) db.run('DELETE FROM notifications WHERE number = ?', number);
  return null;
}

export function postponeNotification({ db }: Change, { number, until }: Arguments<'postponeNotification'>): null {
  db.run('UPDATE notifications SET due_at = ?, attempts = attempts + 1 WHERE number = ?', until, number);
  return null;
}

export function trimNotifications({ db }: Change, { address, keep }: Arguments<'trimNotifications'>): number {
  const last = db.get<{ number: number }>(
    'SELECT number FROM notifications WHERE address = ? ORDER BY number DESC LIMIT 1 OFFSET ?',
    address,
    keep,
  );
  if (!last) return 0;
  return db.all('DELETE FROM notifications WHERE address = ? AND number <= ? RETURNING number', address, last.number)
    .length;
}
