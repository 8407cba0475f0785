import type { Bucket, ObjectAttributes } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import { isHeaderName } from '../../header-name.ts';
import type { S3Request } from '../../request.ts';
import type { AccessList } from '../../access/grants.ts';
import { checkAcceptable, kept } from '../access/acl.ts';
import { aclOfHeaders, grantsOfHeaders } from '../access/acl-headers.ts';
import { textOfHeader } from '../header-text.ts';
import { isReplica } from './replica.ts';
import { askedPolicy } from '../storage-class.ts';
import { tagsOfHeader } from './tags.ts';

/** Names and values together. */
const MOST_METADATA_BYTES = 2048;
const META = 'x-amz-meta-';
const KEPT = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'expires'] as const;

/** What the headers of a put say of the object beside its bytes. */
export async function attributesOf(request: S3Request): Promise<ObjectAttributes> {
  const tagging = request.header('x-amz-tagging');
  const tags = tagging === undefined ? {} : tagsOfHeader(tagging);
  if (Object.keys(tags).length > 0) request.demand('s3:PutObjectTagging');
  return {
    ...describedBy(request),
    ...askedPolicy(request),
    ...(await accessAttributes(request)),
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(isReplica(request, 's3:ReplicateObject') && { replication: 'REPLICA' as const }),
  };
}

/** The part that a copy takes over or replaces as its metadata directive says. */
export function describedBy(request: S3Request): ObjectAttributes {
  const contentType = textOf(request, 'content-type');
  const headers = keptHeaders(request);
  const metadata = metadataOf(request);
  const websiteRedirect = textOf(request, 'x-amz-website-redirect-location');
  return {
    ...(contentType !== undefined && contentType !== '' && { contentType }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(websiteRedirect !== undefined && { websiteRedirect }),
  };
}

/** Who may read it, and whose it is: in a bucket whose ownership says so, an object of another account's stays that account's. */
export async function accessAttributes(request: S3Request): Promise<ObjectAttributes> {
  const { bucket, caller } = request;
  if (namesMail(request) && writerOf(request, undefined).writer === undefined) demandAcl(request);
  const list = await aclOfHeaders(request, caller?.account ?? bucket.account);
  const writer = writerOf(request, list);
  if (list === undefined) return writer;
  checkAcceptable(bucket, list);
  const lasting = kept(list);
  if (writer.writer === undefined && Object.keys(lasting).length > 0) demandAcl(request);
  return { ...lasting, ...writer };
}

function demandAcl(request: S3Request): void {
  request.demand('s3:PutObjectAcl', undefined, { uploads: true });
}

/** The reply shows whether the address is known, so only callers who may set grants get one. */
function namesMail(request: S3Request): boolean {
  return grantsOfHeaders((name) => request.header(name))?.some(({ kind }) => kind === 'emailAddress') ?? false;
}

function writerOf({ bucket, caller }: S3Request, list: AccessList | undefined): Pick<ObjectAttributes, 'writer'> {
  const { ownership } = bucket.settings;
  if (caller === null || caller.account === bucket.account) return {};
  const keeps =
    ownership === 'ObjectWriter' || (ownership === 'BucketOwnerPreferred' && list?.acl !== 'bucket-owner-full-control');
  return keeps ? { writer: caller.account } : {};
}

function textOf(request: S3Request, name: string): string | undefined {
  const value = request.header(name);
  return value === undefined ? undefined : textOfHeader(value);
}

function keptHeaders(request: S3Request): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of KEPT) {
    const value = textOf(request, name);
    if (value !== undefined && value !== '') headers[name] = value;
  }
  return headers;
}

function metadataOf(request: S3Request): Record<string, string> {
  const metadata = new Map<string, string>();
  let bytes = 0;
  for (const name of request.headerNames()) {
    if (!name.startsWith(META) || name.length === META.length) continue;
    // Names of parameters and of fields of forms are any text.
    if (!isHeaderName(name)) throw badArgument('x-amz-meta-*', name, 'The name of metadata must be that of a header.');
    const value = request.header(name) ?? '';
    metadata.set(name.slice(META.length), textOfHeader(value));
    bytes += name.length - META.length + value.length;
  }
  if (bytes > MOST_METADATA_BYTES) {
    throw new S3Error('MetadataTooLarge', undefined, {
      Size: String(bytes),
      MaxSizeAllowed: String(MOST_METADATA_BYTES),
    });
  }
  return Object.fromEntries(metadata);
}

/** Swift lets a bucket have limits; they hold for S3, too. */
export function checkQuota(bucket: Bucket, size: number): void {
  const { quotaBytes, quotaObjects } = bucket.settings;
  if (quotaBytes !== undefined && bucket.bytes + size > quotaBytes) {
    throw new S3Error('EntityTooLarge', `The bucket may hold ${quotaBytes} bytes.`);
  }
  if (quotaObjects !== undefined && bucket.objects + 1 > quotaObjects) {
    throw new S3Error('EntityTooLarge', `The bucket may hold ${quotaObjects} objects.`);
  }
}
