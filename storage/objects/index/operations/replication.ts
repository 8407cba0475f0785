import type { BucketSettings, ReplicationRule } from '../../bucket-settings.ts';
import type { Arguments } from '../../operations.ts';
import type { ObjectAttributes } from '../../records.ts';
import { attributesOf, type KnownBucket, type VersionRow } from '../rows.ts';
import type { Change } from './change.ts';

interface Queued {
  readonly key: string;
  /** Orders the changes of a key. */
  readonly number: number;
  /** Version that is to be copied; null for a deletion. */
  readonly sequence: number | null;
  readonly at: number;
}

/** The rule by which changes of a key are passed on. */
export function ruleFor(bucket: KnownBucket, key: string): ReplicationRule | undefined {
  // Nearly all buckets have none: those are not read for it.
  if (!bucket.settings.includes('"replication"')) return undefined;
  const { replication } = JSON.parse(bucket.settings) as BucketSettings;
  return replication?.enabled === true && key.startsWith(replication.prefix) ? replication : undefined;
}

/** What a new version says of its replication: what came from elsewhere is not passed on again. */
export function newStatus(attributes: ObjectAttributes, rule: ReplicationRule | undefined): ObjectAttributes {
  if (attributes.replication === 'REPLICA') return attributes;
  if (rule) return { ...attributes, replication: 'PENDING' };
  if (attributes.replication === undefined) return attributes;
  const { replication: _, ...own } = attributes;
  return own;
}

/**
 * Notes a change that is to be passed on, in the transaction that makes it. Only the oldest of a key is due: they have to
 * arrive in the order in which they were made.
 */
export function queueChange({ db }: Change, bucket: KnownBucket, rule: ReplicationRule, queued: Queued): void {
  const { key, number, sequence, at } = queued;
  // Without versions only the last state of a key is there to be copied.
  const superseded = 'DELETE FROM replication WHERE bucket = ? AND key = ? AND due_at IS NULL';
  if (bucket.versioning === 'off') db.run(superseded, bucket.id, key);
  const waits = db.get('SELECT 1 FROM replication WHERE bucket = ? AND key = ? LIMIT 1', bucket.id, key) !== undefined;
  db.run(
    'INSERT INTO replication VALUES (?, ?, ?, ?, ?, ?, 0, ?, NULL)',
    bucket.id,
    key,
    number,
    sequence,
    rule.destination,
    rule.targetBucket,
    waits ? null : at,
  );
}

/**
 * After a change of a version that was, or is being, copied: it is copied again if its copy would differ. Only the
 * current one is, because a copy becomes the current one there. What the caller says of the status is older than what is
 * known here.
 */
export function requeue(
  change: Change,
  bucket: KnownBucket,
  { row, isCurrent }: { readonly row: VersionRow; readonly isCurrent: boolean },
  after: ObjectAttributes,
  at: number,
): ObjectAttributes {
  const { key, sequence } = row;
  const had = attributesOf(row);
  if (had.replication === undefined || had.replication === 'REPLICA') return after;
  const rule = isCurrent && copied(had) !== copied(after) ? ruleFor(bucket, key) : undefined;
  if (!rule) return { ...after, replication: had.replication };
  queueChange(change, bucket, rule, { key, number: change.nextSequence(), sequence, at });
  return { ...after, replication: 'PENDING' };
}

/** The part of the attributes that goes with a copy. */
function copied({ contentType, headers, metadata, tags, websiteRedirect }: ObjectAttributes): string {
  return JSON.stringify([contentType, headers, metadata, tags, websiteRedirect]);
}

export function endReplication({ db }: Change, args: Arguments<'endReplication'>): null {
  const { bucket, key, number, status, at } = args;
  const row = db.get<{ sequence: number | null }>(
    'DELETE FROM replication WHERE bucket = ? AND key = ? AND number = ? RETURNING sequence',
    bucket,
    key,
    number,
  );
  if (!row) return null;
  const next = 'SELECT min(number) FROM replication WHERE bucket = ?2 AND key = ?3';
  db.run(`UPDATE replication SET due_at = ?1 WHERE bucket = ?2 AND key = ?3 AND number = (${next})`, at, bucket, key);
  // Changed again meanwhile: it is still under way.
  const again = 'SELECT 1 FROM replication WHERE bucket = ? AND key = ? AND sequence = ?';
  if (status === null || row.sequence === null || db.get(again, bucket, key, row.sequence)) return null;
  for (const table of ['objects', 'versions']) {
    db.run(
      `UPDATE ${table} SET attributes = json_set(attributes, '$.replication', ?)
       WHERE bucket = ? AND key = ? AND sequence = ? AND attributes IS NOT NULL`,
      status,
      bucket,
      key,
      row.sequence,
    );
  }
  return null;
}

export function postponeReplication({ db }: Change, args: Arguments<'postponeReplication'>): null {
  const { bucket, key, number, until } = args;
  db.run(
    'UPDATE replication SET due_at = ?, attempts = attempts + 1 WHERE bucket = ? AND key = ? AND number = ?',
    until,
    bucket,
    key,
    number,
  );
  return null;
}

export function setReplicationUpload({ db }: Change, args: Arguments<'setReplicationUpload'>): null {
  const { bucket, key, number, upload } = args;
  db.run('UPDATE replication SET upload = ? WHERE bucket = ? AND key = ? AND number = ?', upload, bucket, key, number);
  return null;
}
