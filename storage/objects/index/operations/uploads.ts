import { createHash, randomBytes } from 'node:crypto';
import { ObjectError } from '../../errors.ts';
import type { Arguments } from '../../operations.ts';
import type { ObjectAttributes, Part, Upload, WrittenVersion } from '../../records.ts';
import {
  contentValues,
  jsonOrNull,
  partOf,
  uploadOf,
  versionOf,
  type KnownBucket,
  type PartRow,
  type UploadRow,
  VERSION_COLUMNS,
  type VersionRow,
} from '../rows.ts';
import { joinContents, release, acceptContent } from './blobs.ts';
import { bucketRow, type Change } from './change.ts';
import { reportVersion } from './notifications.ts';
import { checkConditions, checkLockable, newRetention } from './rules.ts';
import { addVersion, currentRow } from './versions.ts';

const PART_SIZE_MIN = 5 * 2 ** 20;
/** How long a completion that is asked for again gives the same answer. */
const COMPLETED_KEEP_MS = 3_600_000;
const FORGET_STEP = 20;
const TIME_DIGITS = 12;
const RANDOM_BYTES = 10;

type Chosen = Arguments<'completeUpload'>['parts'];

export function createUpload(change: Change, args: Arguments<'createUpload'>): Upload {
  const { at, ...wanted } = args;
  const bucket = bucketRow(change, args.bucket);
  checkLockable(bucket, args.retention, args.legalHold);
  const upload: Upload = { ...wanted, id: newUploadId(at), createdAt: at };
  change.db.run(
    'INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    upload.id,
    upload.bucket,
    upload.key,
    upload.owner,
    at,
    jsonOrNull(upload.attributes),
    upload.retention?.mode ?? null,
    upload.retention?.until ?? null,
    Number(upload.legalHold),
    upload.checksumAlgorithm,
    upload.checksumType,
  );
  return upload;
}

/** Ids sort by time, because S3 lists the uploads of a key in the order they began. */
function newUploadId(at: number): string {
  return at.toString(16).padStart(TIME_DIGITS, '0') + randomBytes(RANDOM_BYTES).toString('hex');
}

export function putPart(change: Change, args: Arguments<'putPart'>): Part {
  const { upload, number, size, etag, checksum, start = null, at } = args;
  const bucket = bucketRow(change, args.bucket);
  const row = uploadRow(change, args);
  if (!row) throw noSuchUpload();
  const content = acceptContent(change, uploadOf(row).attributes.policy ?? bucket.policy, args.content, size);
  const sql = 'SELECT partition, blob, manifest FROM parts WHERE upload = ? AND number = ?';
  const old = change.db.get<PartRow>(sql, upload, number);
  if (old) release(change, old);
  change.db.run(
    'INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    upload,
    number,
    size,
    etag,
    checksum ? JSON.stringify(checksum) : null,
    at,
    ...contentValues(content),
    start,
  );
  return { number, size, etag, checksum, modifiedAt: at };
}

export function completeUpload(change: Change, args: Arguments<'completeUpload'>): WrittenVersion {
  const { db } = change;
  const bucket = bucketRow(change, args.bucket);
  const row = uploadRow(change, args);
  if (!row) return completedBefore(change, args);
  const parts = choose(change, args);
  const current = currentRow(db, bucket.id, args.key);
  checkConditions(args.conditions, current, 'no-such-key');
  const version = assemble(change, bucket, current, uploadOf(row), parts, args);
  for (const { number } of parts) db.run('DELETE FROM parts WHERE upload = ? AND number = ?', row.id, number);
  abandonUpload(change, row.id);
  remember(change, version, args);
  reportVersion(change, bucket, 'ObjectCreated:CompleteMultipartUpload', version, args);
  return version;
}

function assemble(
  change: Change,
  bucket: KnownBucket,
  current: VersionRow | undefined,
  upload: Upload,
  parts: readonly PartRow[],
  { checksum, at }: Arguments<'completeUpload'>,
): WrittenVersion {
  return addVersion(change, bucket, current, {
    key: upload.key,
    content: joinContents(change, parts),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    etag: wholeEtag(parts),
    owner: upload.owner,
    attributes: {
      ...upload.attributes,
      ...(checksum && { checksum }),
      ...partAttributes(parts),
      ...sealOfParts(upload.attributes, parts),
    },
    retention: newRetention(bucket, upload.retention ?? undefined, at),
    legalHold: upload.legalHold,
    expiresAt: null,
    at,
  });
}

/** The parts that were named, checked in the order S3 checks them. */
function choose({ db }: Change, { upload, parts }: Arguments<'completeUpload'>): PartRow[] {
  if (parts.length === 0) throw new ObjectError('invalid-part', 'An upload has at least one part.');
  checkOrder(parts);
  const there = new Map<number, PartRow>();
  for (const row of db.all<PartRow>('SELECT * FROM parts WHERE upload = ?', upload)) there.set(row.number, row);
  const chosen = parts.map((named) => {
    const row = there.get(named.number);
    if (!row || row.etag !== named.etag || isOtherChecksum(row, named.checksum)) {
      throw new ObjectError('invalid-part', `Part ${named.number} is not there, or is another one.`);
    }
    return row;
  });
  const small = chosen.slice(0, -1).find((row) => row.size < PART_SIZE_MIN);
  if (small) throw new ObjectError('part-too-small', `Part ${small.number} has ${small.size} bytes.`);
  return chosen;
}

function checkOrder(parts: Chosen): void {
  let last = 0;
  for (const { number } of parts) {
    if (number <= last) throw new ObjectError('invalid-part-order', 'Parts are named in ascending order.');
    last = number;
  }
}

function isOtherChecksum(row: PartRow, checksum: string | undefined): boolean {
  return checksum !== undefined && partOf(row).checksum?.value !== checksum;
}

function wholeEtag(parts: readonly { readonly etag: string }[]): string {
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(Buffer.from(etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}

function partAttributes(rows: readonly PartRow[]): ObjectAttributes {
  const checksums = rows.map((row) => partOf(row).checksum?.value ?? null);
  const partSizes = rows.map((row) => row.size);
  return checksums.every((checksum) => checksum === null) ? { partSizes } : { partSizes, partChecksums: checksums };
}

/** Each part of an upload under a key of the client's is encrypted from a start of its own. */
function sealOfParts(
  { customerKey }: ObjectAttributes,
  rows: readonly PartRow[],
): Pick<ObjectAttributes, 'customerKey'> {
  return customerKey ? { customerKey: { ...customerKey, starts: rows.map(({ start }) => start ?? '') } } : {};
}

function remember(change: Change, version: WrittenVersion, { upload, at }: Arguments<'completeUpload'>): void {
  const { bucket, key, sequence, etag } = version;
  change.db.run('INSERT INTO completed VALUES (?, ?, ?, ?, ?, ?)', upload, bucket, key, sequence, etag, at);
  change.db.run(
    'DELETE FROM completed WHERE upload IN (SELECT upload FROM completed WHERE at < ? ORDER BY at LIMIT ?)',
    at - COMPLETED_KEEP_MS,
    FORGET_STEP,
  );
}

/** A client that lost the answer can ask again, as long as the version exists and the same parts are named. */
function completedBefore({ db }: Change, args: Arguments<'completeUpload'>): WrittenVersion {
  const done = db.get<{ sequence: number; etag: string; at: number }>(
    'SELECT sequence, etag, at FROM completed WHERE upload = ? AND bucket = ? AND key = ?',
    args.upload,
    args.bucket,
    args.key,
  );
  if (!done || done.at < args.at - COMPLETED_KEEP_MS || done.etag !== wholeEtag(args.parts)) throw noSuchUpload();
  const where = 'WHERE bucket = ? AND key = ? AND sequence = ?';
  const values = [args.bucket, args.key, done.sequence];
  const current = db.get<VersionRow>(`SELECT ${VERSION_COLUMNS} FROM objects ${where}`, ...values);
  if (current) return versionOf(current, true);
  const older = db.get<VersionRow>(`SELECT ${VERSION_COLUMNS}, marker FROM versions ${where}`, ...values);
  if (!older) throw noSuchUpload();
  return versionOf(older, false);
}

export function abortUpload(change: Change, args: Arguments<'abortUpload'>): null {
  if (!uploadRow(change, args)) throw noSuchUpload();
  abandonUpload(change, args.upload);
  return null;
}

/** The upload is no longer visible; its remaining parts are freed in steps. */
export function abandonUpload(change: Change, id: string): void {
  const { db } = change;
  db.run('DELETE FROM uploads WHERE id = ?', id);
  if (!db.get('SELECT 1 FROM parts WHERE upload = ? LIMIT 1', id)) return;
  db.run('INSERT INTO given_up_uploads VALUES (?)', id);
  change.leaveGarbage();
}

/** Frees parts of uploads that were given up, at most `limit`; says how many. */
export function collectUploads(change: Change, limit: number): number {
  const { db } = change;
  const given = db.get<{ upload: string }>('SELECT upload FROM given_up_uploads LIMIT 1');
  if (!given) return 0;
  const rows = db.all<PartRow>('SELECT * FROM parts WHERE upload = ? LIMIT ?', given.upload, limit);
  for (const row of rows) {
    release(change, row);
    db.run('DELETE FROM parts WHERE upload = ? AND number = ?', given.upload, row.number);
  }
  if (rows.length < limit) db.run('DELETE FROM given_up_uploads WHERE upload = ?', given.upload);
  return Math.max(1, rows.length);
}

function uploadRow(
  { db }: Change,
  { upload, bucket, key }: { readonly upload: string; readonly bucket: number; readonly key: string },
): UploadRow | undefined {
  const sql = 'SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?';
  return db.get<UploadRow>(sql, upload, bucket, key);
}

function noSuchUpload(): ObjectError {
  return new ObjectError('no-such-upload', 'The upload does not exist; it may have been completed or aborted.');
}
