import type { Reads } from '@granary/kernel/sqlite';
import type { Content, ObjectAttributes, Retention, WrittenVersion } from '../../records.ts';
import {
  attributeValues,
  contentValues,
  policyOfRow,
  sequenceOf,
  VERSION_COLUMNS,
  versionIdOf,
  withPolicy,
  type KnownBucket,
  type VersionRow,
} from '../rows.ts';
import { release } from './blobs.ts';
import { count, type Change } from './change.ts';
import { newStatus, queueChange, ruleFor } from './replication.ts';

export interface NewVersion {
  readonly key: string;
  readonly content: Content;
  readonly size: number;
  readonly etag: string;
  readonly owner: string;
  readonly attributes: ObjectAttributes;
  readonly retention: Retention | null;
  readonly legalHold: boolean;
  readonly expiresAt: number | null;
  readonly at: number;
}

export interface FoundVersion {
  readonly row: VersionRow;
  readonly isCurrent: boolean;
}

const SELECT_CURRENT = `SELECT ${VERSION_COLUMNS} FROM objects WHERE bucket = ? AND key = ?`;
const SELECT_NEWEST = `SELECT ${VERSION_COLUMNS}, marker FROM versions WHERE bucket = ? AND key = ? ORDER BY sequence DESC LIMIT 1`;
const SELECT_NULL = `SELECT ${VERSION_COLUMNS}, marker FROM versions INDEXED BY versions_null WHERE bucket = ? AND key = ? AND versioned = 0`;
const SELECT_VERSION =
  `SELECT ${VERSION_COLUMNS}, marker FROM versions ` +
  'WHERE bucket = ? AND key = ? AND sequence = ? AND versioned = 1';
const SELECT_AT = `SELECT ${VERSION_COLUMNS}, marker FROM versions WHERE bucket = ? AND key = ? AND sequence = ? AND marker = 0`;
const RETIRE = `INSERT INTO versions (${VERSION_COLUMNS}, marker) SELECT ${VERSION_COLUMNS}, 0 FROM objects WHERE bucket = ? AND key = ?`;
const PROMOTE = `INSERT INTO objects (${VERSION_COLUMNS}) SELECT ${VERSION_COLUMNS} FROM versions WHERE bucket = ? AND key = ? AND sequence = ?`;
const FORGET_EXPIRY = 'UPDATE objects SET expires_at = NULL WHERE bucket = ? AND key = ? AND expires_at <= ?';
const INSERT = `INSERT OR REPLACE INTO objects (${VERSION_COLUMNS}) VALUES (${marks(VERSION_COLUMNS)})`;
const INSERT_MARKER =
  'INSERT INTO versions (bucket, key, sequence, versioned, size, etag, modified_at, owner, legal_hold, marker) ' +
  "VALUES (?, ?, ?, ?, 0, '', ?, '', 0, 1)";

function marks(columns: string): string {
  return columns.replaceAll(/\w+/g, '?');
}

export function currentRow(db: Reads, bucket: number, key: string): VersionRow | undefined {
  return db.get<VersionRow>(SELECT_CURRENT, bucket, key);
}

/** The newest version that is not current; without a current one that is a delete marker. */
export function newestRow(db: Reads, bucket: number, key: string): VersionRow | undefined {
  return db.get<VersionRow>(SELECT_NEWEST, bucket, key);
}

export function findVersion(db: Reads, bucket: number, key: string, versionId: string): FoundVersion | undefined {
  const current = currentRow(db, bucket, key);
  const sequence = sequenceOf(versionId);
  const isNull = versionId === 'null';
  const isCurrent = isNull ? current?.versioned === 0 : current?.versioned === 1 && current.sequence === sequence;
  if (current && isCurrent) return { row: current, isCurrent };
  let row: VersionRow | undefined;
  if (isNull) row = db.get<VersionRow>(SELECT_NULL, bucket, key);
  else if (sequence !== undefined) row = db.get<VersionRow>(SELECT_VERSION, bucket, key, sequence);
  return row && { row, isCurrent: false };
}

/** A version that is no delete marker, by its place in the order of all changes. */
export function versionAt(db: Reads, bucket: number, key: string, sequence: number): FoundVersion | undefined {
  const current = currentRow(db, bucket, key);
  if (current?.sequence === sequence) return { row: current, isCurrent: true };
  const row = db.get<VersionRow>(SELECT_AT, bucket, key, sequence);
  return row && { row, isCurrent: false };
}

/** Makes a version the current one. What was current becomes noncurrent, or goes if neither has a version id. */
export function addVersion(
  change: Change,
  bucket: KnownBucket,
  current: VersionRow | undefined,
  version: NewVersion,
): WrittenVersion {
  makeRoom(change, bucket, version.key, current, version.at);
  const row = rowOf(change, bucket, version);
  const rule = ruleFor(bucket, version.key);
  const kept = withPolicy(newStatus(version.attributes, rule), bucket, version.attributes.policy);
  const [attributes, details] = attributeValues(kept);
  change.db.run(
    INSERT,
    row.bucket,
    row.key,
    row.sequence,
    row.versioned,
    row.size,
    row.etag,
    row.modified_at,
    row.expires_at,
    row.owner,
    row.retention_mode,
    row.retention_until,
    row.legal_hold,
    ...contentValues(version.content),
    attributes,
    details,
  );
  count(change, bucket, kept.policy ?? bucket.policy, { objects: 1, bytes: version.size, at: version.at });
  if (rule && kept.replication === 'PENDING') {
    const { key, sequence } = row;
    queueChange(change, bucket, rule, { key, number: sequence, sequence, at: version.at });
  }
  return writtenOf(row, version, kept);
}

function writtenOf(row: VersionRow, version: NewVersion, attributes: ObjectAttributes): WrittenVersion {
  return {
    bucket: row.bucket,
    key: row.key,
    sequence: row.sequence,
    versionId: versionIdOf(row),
    isLatest: true,
    isDeleteMarker: false,
    size: row.size,
    etag: row.etag,
    modifiedAt: row.modified_at,
    expiresAt: row.expires_at,
    owner: row.owner,
    attributes,
    retention: version.retention,
    legalHold: version.legalHold,
  };
}

function rowOf(change: Change, bucket: KnownBucket, version: NewVersion): VersionRow {
  return {
    bucket: bucket.id,
    key: version.key,
    sequence: change.nextSequence(),
    versioned: Number(bucket.versioning === 'enabled'),
    size: version.size,
    etag: version.etag,
    modified_at: version.at,
    expires_at: version.expiresAt,
    owner: version.owner,
    retention_mode: version.retention?.mode ?? null,
    retention_until: version.retention?.until ?? null,
    legal_hold: Number(version.legalHold),
    partition: null,
    blob: null,
    manifest: null,
    attributes: null,
  };
}

/** Hides the key behind a delete marker. */
export function addMarker(
  change: Change,
  bucket: KnownBucket,
  key: string,
  current: VersionRow | undefined,
  at: number,
): Pick<VersionRow, 'sequence' | 'versioned'> {
  makeRoom(change, bucket, key, current, at);
  if (current) change.db.run('DELETE FROM objects WHERE bucket = ? AND key = ?', bucket.id, key);
  const sequence = change.nextSequence();
  const versioned = Number(bucket.versioning === 'enabled');
  change.db.run(INSERT_MARKER, bucket.id, key, sequence, versioned, at);
  return { sequence, versioned };
}

/** The row of the current version stays for the caller to replace or to delete. */
function makeRoom(change: Change, bucket: KnownBucket, key: string, current: VersionRow | undefined, at: number): void {
  if (current) {
    if (bucket.versioning === 'enabled' || current.versioned) {
      change.db.run(RETIRE, bucket.id, key);
      change.tally.hide(bucket.id, 1);
    } else drop(change, bucket, current, at);
  }
  if (bucket.versioning !== 'suspended') return;
  const old = change.db.get<VersionRow>(SELECT_NULL, bucket.id, key);
  if (old) removeVersion(change, bucket, { row: old, isCurrent: false }, at);
}

/** Removes one version for good. */
export function removeVersion(change: Change, bucket: KnownBucket, { row, isCurrent }: FoundVersion, at: number): void {
  drop(change, bucket, row, at);
  if (!isCurrent && row.marker !== 1) change.tally.hide(bucket.id, -1);
  const { key, sequence } = row;
  if (isCurrent) change.db.run('DELETE FROM objects WHERE bucket = ? AND key = ?', bucket.id, key);
  else change.db.run('DELETE FROM versions WHERE bucket = ? AND key = ? AND sequence = ?', bucket.id, key, sequence);
}

function drop(change: Change, bucket: KnownBucket, row: VersionRow, at: number): void {
  if (row.marker === 1) return;
  release(change, row);
  count(change, bucket, policyOfRow(bucket, row), { objects: -1, bytes: -row.size, at });
}

/**
 * After the newest entry of a key went: the next one is current again unless it is a delete marker. One that expired
 * before and is brought back stays: otherwise it would be hidden again at once.
 */
export function promoteNewest({ db, tally }: Change, bucket: number, key: string, at: number): void {
  const next = newestRow(db, bucket, key);
  if (!next || next.marker === 1) return;
  db.run(PROMOTE, bucket, key, next.sequence);
  db.run(FORGET_EXPIRY, bucket, key, at);
  db.run('DELETE FROM versions WHERE bucket = ? AND key = ? AND sequence = ?', bucket, key, next.sequence);
  tally.hide(bucket, -1);
}
