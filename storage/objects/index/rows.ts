import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type {
  BlobRecord,
  Bucket,
  Checksum,
  Content,
  ListedAttributes,
  ListedVersion,
  ObjectAttributes,
  ObjectVersion,
  Part,
  Retention,
  StagedBlob,
  Upload,
  Versioning,
} from '../records.ts';
import type { BucketSettings } from '../bucket-settings.ts';
import { unpackPlaces } from './places.ts';

/** Columns that `objects` and `versions` share, without the details: those may be long, and listings do not need them. */
export const LISTED_COLUMNS =
  'bucket, key, sequence, versioned, size, etag, modified_at, expires_at, owner, retention_mode, retention_until, ' +
  'legal_hold, partition, blob, manifest, attributes';
export const VERSION_COLUMNS = `${LISTED_COLUMNS}, details`;

export interface ContentRow {
  readonly partition: number | null;
  readonly blob: Uint8Array | null;
  readonly manifest: number | null;
}

export interface VersionRow extends ContentRow {
  readonly bucket: number;
  readonly key: string;
  readonly sequence: number;
  readonly versioned: number;
  readonly size: number;
  readonly etag: string;
  readonly modified_at: number;
  readonly expires_at: number | null;
  readonly owner: string;
  readonly retention_mode: string | null;
  readonly retention_until: number | null;
  readonly legal_hold: number;
  /** Attributes that listings show. */
  readonly attributes: string | null;
  /** The rest of the attributes; not read for listings. */
  readonly details?: string | null;
  /** Only in `versions`. */
  readonly marker?: number;
}

/** What a bucket is, without the counters that every change of an object moves. */
export interface KnownBucket {
  readonly id: number;
  readonly account: string;
  readonly name: string;
  readonly policy: number;
  readonly created_at: number;
  readonly versioning: Versioning;
  readonly lockable: number;
  readonly settings: string;
}

export const BUCKET_COLUMNS = 'id, account, name, policy, created_at, versioning, lockable, settings';

export interface BucketRow extends KnownBucket {
  readonly objects: number;
  readonly bytes: number;
  readonly noncurrent: number;
}

export interface UploadRow {
  readonly id: string;
  readonly bucket: number;
  readonly key: string;
  readonly owner: string;
  readonly created_at: number;
  readonly attributes: string | null;
  readonly retention_mode: string | null;
  readonly retention_until: number | null;
  readonly legal_hold: number;
  readonly checksum_algorithm: Checksum['algorithm'] | null;
  readonly checksum_type: Checksum['type'] | null;
}

export interface PartRow extends ContentRow {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly checksum: string | null;
  readonly modified_at: number;
  /** Where its encryption with a key of the client's starts. */
  readonly start: string | null;
}

export interface BlobRow {
  readonly partition: number;
  readonly id: Uint8Array;
  readonly key: number;
  readonly size: number;
  readonly refs: number;
  readonly piece_bytes: number;
  readonly places: Uint8Array;
}

/** A row of `LISTED_COLUMNS` and `marker` from its values: building it here is faster than having it built by name. */
export function listedRow(values: readonly SQLOutputValue[]): VersionRow {
  return {
    bucket: values[0] as number,
    key: values[1] as string,
    sequence: values[2] as number,
    versioned: values[3] as number,
    size: values[4] as number,
    etag: values[5] as string,
    modified_at: values[6] as number,
    expires_at: values[7] as number | null,
    owner: values[8] as string,
    retention_mode: values[9] as string | null,
    retention_until: values[10] as number | null,
    legal_hold: values[11] as number,
    partition: values[12] as number | null,
    blob: values[13] as Uint8Array | null,
    manifest: values[14] as number | null,
    attributes: values[15] as string | null,
    marker: values[16] as number,
  };
}

/** Version ids are the sequence in hex, or `null` for what was put without versioning. */
export function versionIdOf(row: Pick<VersionRow, 'sequence' | 'versioned'>): string {
  return row.versioned ? row.sequence.toString(16) : 'null';
}

/** The sequence that a version id names; undefined when it names none. The caller handles `null`. */
export function sequenceOf(versionId: string): number | undefined {
  return /^[1-9a-f][0-9a-f]{0,12}$/.test(versionId) ? Number.parseInt(versionId, 16) : undefined;
}

export function versionOf(row: VersionRow, isLatest: boolean): ObjectVersion {
  return { ...listedVersionOf(row, isLatest), attributes: attributesOf(row) };
}

export function listedVersionOf(row: VersionRow, isLatest: boolean): ListedVersion {
  return {
    bucket: row.bucket,
    key: row.key,
    sequence: row.sequence,
    versionId: versionIdOf(row),
    isLatest,
    isDeleteMarker: row.marker === 1,
    size: row.size,
    etag: row.etag,
    modifiedAt: row.modified_at,
    expiresAt: row.expires_at,
    owner: row.owner,
    attributes: listedAttributesOf(row.attributes),
    retention: retentionOf(row),
    legalHold: row.legal_hold === 1,
    content: contentOf(row, row.size),
  };
}

export function contentOf(row: ContentRow, size: number): Content {
  if (row.manifest !== null) return { kind: 'manifest', manifest: row.manifest };
  if (row.partition === null || row.blob === null) return { kind: 'empty' };
  return { kind: 'blob', blob: { partition: row.partition, id: row.blob, size } };
}

/** Values of the columns `partition`, `blob` and `manifest`. */
export function contentValues(content: Content): [SQLInputValue, SQLInputValue, SQLInputValue] {
  if (content.kind === 'manifest') return [null, null, content.manifest];
  if (content.kind === 'blob') return [content.blob.partition, content.blob.id, null];
  return [null, null, null];
}

export function retentionOf(row: Pick<VersionRow, 'retention_mode' | 'retention_until'>): Retention | null {
  if (row.retention_mode === null || row.retention_until === null) return null;
  return { mode: row.retention_mode as Retention['mode'], until: row.retention_until };
}

/** Attributes of one object that listings do not show. */
interface Details extends Pick<
  ObjectAttributes,
  'headers' | 'metadata' | 'partSizes' | 'partChecksums' | 'customerKey'
> {
  /** The value alone. */
  readonly checksum?: string;
}

/** Neighbours in a listing mostly have the same attributes: those are read once. */
let lastAttributes: { readonly json: string; readonly value: ListedAttributes } = { json: '{}', value: {} };

function listedAttributesOf(json: string | null): ListedAttributes {
  if (json === null) return {};
  if (json !== lastAttributes.json) lastAttributes = { json, value: JSON.parse(json) as ListedAttributes };
  return lastAttributes.value;
}

/** Rows that were written before there were details have most of them among the attributes. */
export function attributesOf(row: Pick<VersionRow, 'attributes' | 'details'>): ObjectAttributes {
  const listed = listedAttributesOf(row.attributes) as ObjectAttributes;
  if (row.details === null || row.details === undefined) return listed;
  const { checksum: value, ...rest } = JSON.parse(row.details) as Details;
  const checksum = listed.checksum && value !== undefined && { ...listed.checksum, value };
  return { ...listed, ...rest, ...(checksum && { checksum }) };
}

/** The storage policy that keeps the bytes of a version: the bucket's, unless it was put or moved elsewhere. */
export function policyOfRow(
  { policy }: Pick<KnownBucket, 'policy'>,
  { attributes }: Pick<VersionRow, 'attributes'>,
): number {
  // Nearly all have none of their own: those are not read for it.
  if (attributes?.includes('"policy"') !== true) return policy;
  return (JSON.parse(attributes) as ListedAttributes).policy ?? policy;
}

/** Attributes as they are kept: a policy of its own is that of another than the bucket's. */
export function withPolicy(
  attributes: ObjectAttributes,
  bucket: Pick<KnownBucket, 'policy'>,
  policy: number | undefined,
): ObjectAttributes {
  if (policy !== undefined && policy !== bucket.policy) return { ...attributes, policy };
  if (attributes.policy === undefined) return attributes;
  const { policy: _policy, ...rest } = attributes;
  return rest;
}

/** Values of the columns `attributes` and `details`; null for none. */
export function attributeValues(attributes: ObjectAttributes): [string | null, string | null] {
  const { headers, metadata, checksum: whole, partSizes, partChecksums, customerKey, ...listed } = attributes;
  const details = { headers, metadata, partSizes, partChecksums, customerKey };
  if (!whole) return [jsonOrNull(listed), jsonOrNull(details)];
  const { value, ...checksum } = whole;
  return [jsonOrNull({ ...listed, checksum }), jsonOrNull({ ...details, checksum: value })];
}

export function jsonOrNull(value: object): string | null {
  const json = JSON.stringify(value);
  return json === '{}' ? null : json;
}

export function bucketOf(row: BucketRow): Bucket {
  return {
    id: row.id,
    account: row.account,
    name: row.name,
    policy: row.policy,
    createdAt: row.created_at,
    versioning: row.versioning,
    lockable: row.lockable === 1,
    settings: JSON.parse(row.settings) as BucketSettings,
    objects: row.objects,
    bytes: row.bytes,
    noncurrent: row.noncurrent,
  };
}

export function uploadOf(row: UploadRow): Upload {
  return {
    id: row.id,
    bucket: row.bucket,
    key: row.key,
    owner: row.owner,
    createdAt: row.created_at,
    attributes: row.attributes === null ? {} : (JSON.parse(row.attributes) as ObjectAttributes),
    retention: retentionOf(row),
    legalHold: row.legal_hold === 1,
    checksumAlgorithm: row.checksum_algorithm,
    checksumType: row.checksum_type,
  };
}

export function partOf(row: PartRow): Part {
  return {
    number: row.number,
    size: row.size,
    etag: row.etag,
    checksum: row.checksum === null ? null : (JSON.parse(row.checksum) as Checksum),
    modifiedAt: row.modified_at,
  };
}

export function blobOf(row: BlobRow): StagedBlob {
  return { ...recordOf(row), pieceBytes: row.piece_bytes };
}

function recordOf(row: BlobRow): BlobRecord {
  const { partition, id, size, key } = row;
  return { partition, id, size, key, places: unpackPlaces(row.places) };
}
