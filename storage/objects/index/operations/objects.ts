import { ObjectError } from '../../errors.ts';
import type { Arguments, Result } from '../../operations.ts';
import type { Content, ObjectAttributes, ObjectVersion, WrittenVersion } from '../../records.ts';
import {
  attributesOf,
  attributeValues,
  contentValues,
  policyOfRow,
  versionIdOf,
  versionOf,
  withPolicy,
  type KnownBucket,
  type VersionRow,
} from '../rows.ts';
import { acceptContent, release } from './blobs.ts';
import { bucketRow, count, type Change } from './change.ts';
import { report, reportVersion } from './notifications.ts';
import { queueChange, requeue, ruleFor } from './replication.ts';
import { checkConditions, checkLock, checkLockable, checkRetention, newRetention } from './rules.ts';
import {
  addMarker,
  addVersion,
  currentRow,
  findVersion,
  versionAt,
  newestRow,
  promoteNewest,
  removeVersion,
  type FoundVersion,
} from './versions.ts';

export function putObject(change: Change, args: Arguments<'putObject'>): WrittenVersion {
  const { key, size, etag, owner, attributes, at } = args;
  const bucket = bucketRow(change, args.bucket);
  const current = currentRow(change.db, bucket.id, key);
  checkConditions(args.conditions, current, 'no-such-key');
  checkLockable(bucket, args.retention, args.legalHold);
  const content = acceptContent(change, attributes.policy ?? bucket.policy, args.content, size);
  const retention = newRetention(bucket, args.retention, at);
  const legalHold = args.legalHold ?? false;
  const expiresAt = args.expiresAt ?? null;
  const version = { key, content, size, etag, owner, attributes, retention, legalHold, expiresAt, at };
  const written = addVersion(change, bucket, current, version);
  reportVersion(change, bucket, args.cause?.event ?? 'ObjectCreated:Put', written, args);
  return written;
}

export function deleteObject(change: Change, args: Arguments<'deleteObject'>): Result<'deleteObject'> {
  const bucket = bucketRow(change, args.bucket);
  return args.versionId === undefined
    ? deleteCurrent(change, bucket, args)
    : deleteVersion(change, bucket, args, args.versionId);
}

function deleteCurrent(change: Change, bucket: KnownBucket, args: Arguments<'deleteObject'>): Result<'deleteObject'> {
  const { key, conditions, at } = args;
  const current = currentRow(change.db, bucket.id, key);
  const isHidden = conditions !== undefined && !current && newestRow(change.db, bucket.id, key) !== undefined;
  checkConditions(conditions, current, isHidden ? 'precondition-failed' : 'no-such-key');
  const removed = current ? versionOf(current, true) : null;
  passOn(change, bucket, args, removed !== null);
  if (bucket.versioning !== 'off') {
    const marker = addMarker(change, bucket, key, current, at);
    const versionId = versionIdOf(marker);
    const event = `${eventFamily(args)}:DeleteMarkerCreated` as const;
    report(change, bucket, { event, key, sequence: marker.sequence, etag: EMPTY_MD5, versionId, ...from(args) });
    return { removed, marker: { versionId } };
  }
  if (current) {
    removeVersion(change, bucket, { row: current, isCurrent: true }, at);
    reportDeletion(change, bucket, args);
  }
  return { removed, marker: null };
}

const EMPTY_MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

function reportDeletion(change: Change, bucket: KnownBucket, args: Arguments<'deleteObject'>): void {
  const { key, versionId } = args;
  const event = `${eventFamily(args)}:Delete` as const;
  const version = versionId !== undefined && versionId !== 'null' && { versionId };
  report(change, bucket, { event, key, sequence: change.nextSequence(), ...version, ...from(args) });
}

/** What a rule removes says so. */
function eventFamily({ cause }: Arguments<'deleteObject'>): 'LifecycleExpiration' | 'ObjectRemoved' {
  return cause?.event === 'LifecycleExpiration:Delete' ? 'LifecycleExpiration' : 'ObjectRemoved';
}

function from({ at, cause }: Pick<Arguments<'deleteObject'>, 'at' | 'cause'>) {
  return { at, ...(cause && { cause }) };
}

/** Deletions of a version by its id stay here, as with S3. */
function passOn(change: Change, bucket: KnownBucket, args: Arguments<'deleteObject'>, isThere: boolean): void {
  const { key, at } = args;
  const rule = args.unreplicated === true ? undefined : ruleFor(bucket, key);
  if (rule?.deletes !== true || (!isThere && bucket.versioning === 'off')) return;
  queueChange(change, bucket, rule, { key, number: change.nextSequence(), sequence: null, at });
}

function deleteVersion(
  change: Change,
  bucket: KnownBucket,
  args: Arguments<'deleteObject'>,
  versionId: string,
): Result<'deleteObject'> {
  const { key, conditions, at } = args;
  const found = findVersion(change.db, bucket.id, key, versionId);
  const isMarker = found?.row.marker === 1;
  // Markers have a place in the order, too, and nothing else that could be asked for.
  const isAsked = isMarker && conditions?.ifSequence === found.row.sequence;
  checkConditions(isAsked ? {} : conditions, isMarker ? undefined : found?.row, 'precondition-failed');
  if (!found) return { removed: null, marker: null };
  checkLock(found.row, at, args.bypassGovernance ?? false);
  const wasLatest = isLatest(change, found);
  if (wasLatest && conditions?.ifNoncurrent === true)
    throw new ObjectError('precondition-failed', 'The version is the newest of its key.');
  removeVersion(change, bucket, found, at);
  reportDeletion(change, bucket, args);
  if (wasLatest) promoteNewest(change, bucket.id, key, at);
  return { removed: versionOf(found.row, wasLatest), marker: isMarker ? { versionId } : null };
}

function isLatest({ db }: Change, { row, isCurrent }: FoundVersion): boolean {
  if (isCurrent) return true;
  if (row.marker !== 1 || currentRow(db, row.bucket, row.key)) return false;
  return newestRow(db, row.bucket, row.key)?.sequence === row.sequence;
}

export function changeVersion(change: Change, args: Arguments<'changeVersion'>): ObjectVersion {
  const { db } = change;
  const bucket = bucketRow(change, args.bucket);
  const { row, isCurrent } = existing(change, args);
  checkLockable(bucket, args.retention, args.legalHold);
  if (args.retention !== undefined) checkRetention(row, args.retention, args.at, args.bypassGovernance ?? false);
  const patched = args.attributes && ({ ...attributesOf(row), ...args.attributes } as ObjectAttributes);
  const attributes = patched && requeue(change, bucket, { row, isCurrent }, patched, args.at);
  // Where its bytes are is not the caller's to say.
  const placed = attributes && withPolicy(attributes, bucket, policyOfRow(bucket, row));
  const next = changedRow(row, { ...args, attributes: placed });
  const values = [next.attributes, next.details ?? null, next.retention_mode, next.retention_until];
  const table = isCurrent ? 'objects' : 'versions';
  db.run(
    `UPDATE ${table} SET attributes = ?, details = ?, retention_mode = ?, retention_until = ?, legal_hold = ?,
       expires_at = ? WHERE bucket = ? AND key = ? AND sequence = ?`,
    ...values,
    next.legal_hold,
    next.expires_at,
    row.bucket,
    row.key,
    row.sequence,
  );
  const changed = versionOf(next, isCurrent);
  if (args.cause?.event) reportVersion(change, bucket, args.cause.event, changed, args);
  return changed;
}

function existing({ db }: Change, { bucket, key, versionId }: Arguments<'changeVersion'>): FoundVersion {
  if (versionId === undefined) {
    const row = currentRow(db, bucket, key);
    if (!row) throw new ObjectError('no-such-key', 'The object does not exist.');
    return { row, isCurrent: true };
  }
  const found = findVersion(db, bucket, key, versionId);
  if (!found) throw new ObjectError('no-such-version', 'The version does not exist.');
  if (found.row.marker === 1) throw new ObjectError('invalid-state', 'A delete marker has nothing to change.');
  return found;
}

type Changed = Omit<Arguments<'changeVersion'>, 'attributes'> & { readonly attributes: ObjectAttributes | undefined };

function changedRow(row: VersionRow, args: Changed): VersionRow {
  const { attributes, retention, legalHold, expiresAt } = args;
  const [listed, details] = attributes ? attributeValues(attributes) : [row.attributes, row.details ?? null];
  return {
    ...row,
    attributes: listed,
    details,
    retention_mode: retention === undefined ? row.retention_mode : (retention?.mode ?? null),
    retention_until: retention === undefined ? row.retention_until : (retention?.until ?? null),
    legal_hold: legalHold === undefined ? row.legal_hold : Number(legalHold),
    expires_at: expiresAt === undefined ? row.expires_at : expiresAt,
  };
}

/** Old bytes or new ones, in one transaction: a crash leaves either. What was staged for a change that is refused is dead space. */
export function moveVersion(change: Change, args: Arguments<'moveVersion'>): null {
  const { key, sequence, seen, policy, at } = args;
  const bucket = bucketRow(change, args.bucket);
  const found = versionAt(change.db, bucket.id, key, sequence);
  if (!found || !hasContent(found.row, seen)) {
    throw new ObjectError('precondition-failed', 'The version is gone, or its bytes have changed place.');
  }
  const { row, isCurrent } = found;
  const from = policyOfRow(bucket, row);
  const content = acceptContent(change, policy, args.content, row.size);
  release(change, row);
  const [attributes, details] = attributeValues(withPolicy(attributesOf(row), bucket, policy));
  change.db.run(
    `UPDATE ${isCurrent ? 'objects' : 'versions'} SET partition = ?, blob = ?, manifest = ?, attributes = ?, details = ?
     WHERE bucket = ? AND key = ? AND sequence = ?`,
    ...contentValues(content),
    attributes,
    details,
    bucket.id,
    key,
    sequence,
  );
  count(change, bucket, from, { objects: -1, bytes: -row.size, at });
  count(change, bucket, policy, { objects: 1, bytes: row.size, at });
  reportVersion(change, bucket, 'LifecycleTransition', versionOf(row, isCurrent), { at });
  return null;
}

function hasContent(row: VersionRow, seen: Content): boolean {
  const [partition, blob, manifest] = contentValues(seen);
  if (row.manifest !== manifest || row.partition !== partition) return false;
  return row.blob === null ? blob === null : blob instanceof Uint8Array && Buffer.compare(row.blob, blob) === 0;
}
