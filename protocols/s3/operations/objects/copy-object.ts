import type { Checksum, ObjectAttributes, ObjectVersion } from '@granary/storage/object-store';
import { algorithmOf, summer } from '../../checksums/checksums.ts';
import { badArgument, S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { OWN } from '../../encryption/customer-key.ts';
import { type Encryption, encryptionOf, isEncrypted, writtenEncryption } from '../../encryption/encryption.ts';
import { copyBytes } from './copy-bytes.ts';
import type { StagedBody } from './stage-body.ts';
import { copySource, MOST_COPIED_BYTES, type CopySource } from './copy-source.ts';
import { checkAccountQuota } from './account-quota.ts';
import { accessAttributes, checkQuota, describedBy } from './object-attributes.ts';
import { expirationHeader } from './expiration-header.ts';
import { lockOfHeaders } from './lock.ts';
import { shown } from './object-content.ts';
import { isoDate } from '../dates.ts';
import { checksumFields, quoted, versionHeader, xmlReply } from '../replies.ts';
import { askedPolicy } from '../storage-class.ts';
import { tagsOfHeader } from './tags.ts';
import { checkEarly, writeConditions } from './write-conditions.ts';

/**
 * The copy shares the bytes of its source where both are kept under the same policy. It keeps the source's ETag, too,
 * even that of a multipart upload: the bytes are the same, and reading them all for another would be of no use.
 */
export const copyObject: S3Operation = {
  name: 'CopyObject',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  async run(request) {
    const { bucket, caller, context, key, now } = request;
    const encryption = encryptionOf(request);
    const source = await copySource(request);
    const { version } = source;
    demandTags(request, source);
    const attributes = await attributesOfCopy(request, source);
    const lock = lockOfHeaders(request);
    const condition = writeConditions(request);
    checkEarly(request, condition.conditions);
    if (shown(version).size > MOST_COPIED_BYTES) {
      throw new S3Error(
        'InvalidRequest',
        `The specified copy source is larger than the maximum allowable size for a copy source: ${MOST_COPIED_BYTES}`,
      );
    }
    checkQuota(bucket, shown(version).size);
    await checkAccountQuota(request, shown(version).size);
    const {
      content,
      size,
      etag,
      checksum,
      attributes: ofBytes,
    } = await bytesOfCopy(request, source, encryption, attributes.policy ?? bucket.policy);
    const copy = await context.store.commit('putObject', {
      bucket: bucket.id,
      key,
      content,
      size,
      etag,
      owner: caller?.user ?? bucket.settings.owner ?? bucket.account,
      attributes: { ...attributes, ...ofBytes, ...(checksum !== null && { checksum }) },
      ...lock,
      ...condition,
      cause: causeOf(request, 'ObjectCreated:Copy'),
      at: now,
    });
    return xmlReply(
      'CopyObjectResult',
      field('LastModified', isoDate(copy.modifiedAt)) +
        field('ETag', quoted(copy.etag)) +
        checksumFields(copy.attributes.checksum),
      {
        ...versionHeader(bucket, copy),
        ...(source.bucket.versioning !== 'off' && { 'x-amz-copy-source-version-id': version.versionId }),
        ...writtenEncryption(encryption),
        ...expirationHeader(bucket, copy),
      },
    );
  },
};

async function attributesOfCopy(request: S3Request, source: CopySource): Promise<ObjectAttributes> {
  const replaces = directive(request, 'x-amz-metadata-directive');
  const retags = directive(request, 'x-amz-tagging-directive');
  demandChange(request, source, replaces);
  const { attributes } = source.version;
  const { contentType, headers, metadata, dynamicManifest } = attributes;
  const { websiteRedirect, ...described } = replaces
    ? describedBy(request)
    : {
        ...kept({ contentType, headers, metadata }),
        websiteRedirect: request.header('x-amz-website-redirect-location'),
      };
  const header = request.header('x-amz-tagging');
  const tags = retags ? (header === undefined ? {} : tagsOfHeader(header)) : (attributes.tags ?? {});
  if (Object.keys(tags).length > 0) request.demand('s3:PutObjectTagging');
  return {
    ...described,
    ...kept({ websiteRedirect, dynamicManifest }),
    ...askedPolicy(request),
    ...(await accessAttributes(request)),
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

/** Tags are copied with an object: a user who may only read the object must not learn them that way. */
function demandTags(request: S3Request, { version, named, demand }: CopySource): void {
  if (version.attributes.tags === undefined || directive(request, 'x-amz-tagging-directive')) return;
  demand(named ? 's3:GetObjectVersionTagging' : 's3:GetObjectTagging');
}

/** Fields that are there. */
function kept<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function directive(request: S3Request, name: string): boolean {
  const value = request.header(name)?.toUpperCase();
  if (value !== undefined && value !== 'COPY' && value !== 'REPLACE')
    throw badArgument(name, value, `${name} is COPY or REPLACE.`);
  return value === 'REPLACE';
}

/** A copy onto itself has to change something; a named version becomes the current one, which is a change. */
function demandChange(request: S3Request, { bucket, version, named }: CopySource, replaces: boolean): void {
  const same = bucket.id === request.bucket.id && version.key === request.key;
  const changes =
    replaces ||
    (named && !version.isLatest) ||
    ['x-amz-storage-class', 'x-amz-website-redirect-location', 'x-amz-server-side-encryption', `${OWN}-algorithm`].some(
      (name) => request.header(name) !== undefined,
    );
  if (!same || changes) return;
  throw new S3Error(
    'InvalidRequest',
    "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  );
}

type BytesOfCopy = Pick<StagedBody, 'content' | 'size' | 'etag' | 'checksum'> & {
  readonly attributes: Pick<ObjectAttributes, 'partSizes' | 'partChecksums' | 'encryption' | 'customerKey'>;
};

/** Segments of a large object are put together: the copy has to last when they go. */
async function bytesOfCopy(
  request: S3Request,
  source: CopySource,
  encryption: Encryption,
  policy: number,
): Promise<BytesOfCopy> {
  const { bucket, version, key } = source;
  const { size, etag, attributes, content } = version;
  const wanted = algorithmOfCopy(request);
  const isAnother = attributes.staticManifest !== undefined || key !== null || encryption.kind === 'customer';
  if (isAnother) {
    const range = { start: 0, end: shown(version).size };
    const present = attributes.staticManifest === undefined ? attributes.checksum?.algorithm : undefined;
    const copied = await copyBytes(request, source, range, {
      encryption,
      policy,
      algorithm: wanted ?? present ?? null,
    });
    return { ...copied, attributes: copied.encryption };
  }
  const { partSizes, partChecksums } = attributes;
  const checksum = await checksumOfCopy(request, version, wanted);
  const parts = kept({ partSizes, partChecksums });
  const { store } = request.context;
  const encrypt = encryption.kind === 'array';
  const isKept = isEncrypted(store, version);
  if ((attributes.policy ?? bucket.policy) === policy && (isKept || !encrypt || content.kind === 'empty')) {
    const rest = { size, etag, checksum, attributes: { ...parts, ...((isKept || encrypt) && AES256) } };
    if (content.kind === 'empty') return { content, ...rest };
    return {
      content: { kind: 'copy', of: { bucket: version.bucket, key: version.key, sequence: version.sequence } },
      ...rest,
    };
  }
  const staged = await store.stage(policy, store.read(version), size, { encrypt });
  return { content: staged, size, etag, checksum, attributes: { ...parts, ...(encrypt && AES256) } };
}

const AES256 = { encryption: 'AES256' } as const;

function algorithmOfCopy(request: S3Request): Checksum['algorithm'] | null {
  const name = request.header('x-amz-checksum-algorithm');
  if (name === undefined) return null;
  const algorithm = algorithmOf(name);
  if (algorithm !== undefined) return algorithm;
  throw badArgument('x-amz-checksum-algorithm', name, 'The checksum algorithm is not known.');
}

/** The source's, unless the caller wants one of another algorithm. */
async function checksumOfCopy(
  request: S3Request,
  version: ObjectVersion,
  algorithm: Checksum['algorithm'] | null,
): Promise<Checksum | null> {
  const present = version.attributes.checksum ?? null;
  if (algorithm === null || (present?.algorithm === algorithm && present.type === 'FULL_OBJECT')) return present;
  const sum = summer(algorithm);
  for await (const bytes of request.context.store.read(version)) sum.update(bytes);
  return { algorithm, value: sum.digest(), type: 'FULL_OBJECT' };
}
