import type { OutgoingHttpHeaders } from 'node:http';
import type { ObjectVersion } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { expirationHeader } from './expiration-header.ts';
import { headerOfText } from '../header-text.ts';
import { STANDARD, storageClassOf } from '../storage-class.ts';
import { shown } from './object-content.ts';
import { httpDate } from '../dates.ts';
import type { CustomerKey } from '../../encryption/customer-key.ts';
import { readEncryption } from '../../encryption/encryption.ts';
import { checksumHeaders, quoted, versionHeader } from '../replies.ts';

const DEFAULT_TYPE = 'binary/octet-stream';

/** What a query may ask to be answered instead of what is kept. */
const OVERRIDES = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
].map((header) => [`response-${header}`, header] as const);

/** Everything a reply tells of an object but how many of its bytes follow. */
export function objectHeaders(
  request: S3Request,
  version: ObjectVersion,
  key: CustomerKey | null,
): OutgoingHttpHeaders {
  const { attributes } = version;
  const headers: OutgoingHttpHeaders = {
    'accept-ranges': 'bytes',
    'last-modified': httpDate(version.modifiedAt),
    etag: quoted(shown(version).etag),
    'content-type': headerOfText(attributes.contentType ?? DEFAULT_TYPE),
    ...versionHeader(request.bucket, version),
    ...readEncryption(request, version, key),
    ...expirationHeader(request.bucket, version),
    ...lockHeaders(request, version),
  };
  for (const name in attributes.headers) headers[name] = headerOfText(attributes.headers[name] ?? '');
  for (const name in attributes.metadata) headers[`x-amz-meta-${name}`] = headerOfText(attributes.metadata[name] ?? '');
  const tags = Object.keys(attributes.tags ?? {}).length;
  if (tags > 0) headers['x-amz-tagging-count'] = String(tags);
  if (attributes.websiteRedirect !== undefined) {
    headers['x-amz-website-redirect-location'] = headerOfText(attributes.websiteRedirect);
  }
  const storageClass = storageClassOf(request.context.store, attributes);
  if (storageClass !== STANDARD) headers['x-amz-storage-class'] = headerOfText(storageClass);
  if (attributes.replication !== undefined) headers['x-amz-replication-status'] = attributes.replication;
  return headers;
}

/** The checksum is that of the whole object: it would mislead beside a part of it. */
export function askedChecksum(request: S3Request, version: ObjectVersion): OutgoingHttpHeaders {
  return asksForChecksum(request) ? checksumHeaders(version.attributes.checksum) : {};
}

/** Of one part of a multipart upload, with the type of that of the whole. */
export function askedPartChecksum(
  request: S3Request,
  { attributes }: ObjectVersion,
  part: number,
): OutgoingHttpHeaders {
  const { checksum, partChecksums } = attributes;
  if (!asksForChecksum(request) || checksum === undefined) return {};
  const own = partChecksums?.[part - 1] ?? undefined;
  if (own === undefined) return { 'x-amz-checksum-type': checksum.type };
  return checksumHeaders({ ...checksum, value: own });
}

function asksForChecksum(request: S3Request): boolean {
  return request.header('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
}

/** Only for signed requests: else any link could turn a public object into a page of another type. */
export function overrides({ caller, query }: S3Request): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, header] of OVERRIDES) {
    const value = query.get(name);
    if (value === undefined) continue;
    if (caller === null) {
      throw new S3Error(
        'InvalidRequest',
        'Request specific response headers cannot be used for anonymous GET requests.',
      );
    }
    headers[header] = headerOfText(value);
  }
  return headers;
}

/** Lock headers are sent only to users who may ask for the lock. */
function lockHeaders(request: S3Request, { retention, legalHold }: ObjectVersion): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  if (retention !== null && request.may('s3:GetObjectRetention')) {
    headers['x-amz-object-lock-mode'] = retention.mode;
    headers['x-amz-object-lock-retain-until-date'] = new Date(retention.until).toISOString();
  }
  if (legalHold && request.may('s3:GetObjectLegalHold')) headers['x-amz-object-lock-legal-hold'] = 'ON';
  return headers;
}
