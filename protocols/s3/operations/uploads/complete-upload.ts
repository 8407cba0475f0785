import type { Checksum, Part, Upload, WrittenVersion } from '@granary/storage/object-store';
import { encodePart } from '../../address.ts';
import { CHECKSUM_HEADERS, checksumOf } from '../../checksums/checksums.ts';
import { customerKeyOf } from '../../encryption/customer-key.ts';
import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Reply, type S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { readXmlWithin, type XmlElement } from '../../xml-reader.ts';
import { compositeChecksum, fullChecksum } from './checksum-combine.ts';
import { bareTag } from '../objects/conditions.ts';
import { expirationHeader } from '../objects/expiration-header.ts';
import { checkAccountQuota } from '../objects/account-quota.ts';
import { checkQuota } from '../objects/object-attributes.ts';
import { checksumFields, NO_CONTENT, quoted, versionHeader, xmlReply } from '../replies.ts';
import { MOST_PARTS, uploadOf } from './upload.ts';
import { writeConditions } from '../objects/write-conditions.ts';

const CHECKSUM_ELEMENTS = new Map(
  Object.values(CHECKSUM_HEADERS).map((algorithm) => [`Checksum${algorithm}`, algorithm]),
);
const LEAST_PART_BYTES = 5 * 2 ** 20;
/** All parts, each with its number, tag and checksums, with room for indentation. */
const DOCUMENT = { lengthMax: 4 * 2 ** 20, elementsMax: 60_000, depthMax: 4 };
const MOST_OBJECT_BYTES = 5 * 2 ** 40;

interface NamedPart {
  readonly number: number;
  readonly etag: string;
  /** By the names of their algorithms. */
  readonly checksums: ReadonlyMap<string, string>;
}

export const completeMultipartUpload: S3Operation = {
  name: 'CompleteMultipartUpload',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  objectChecksums: true,
  async run(request) {
    const { bucket, context, key, now } = request;
    customerKeyOf(request);
    const text = await request.body.text(DOCUMENT.lengthMax);
    const root = readXmlWithin(DOCUMENT, text, 'CompleteMultipartUpload', 'CompleteMultipartUploadRequest');
    root.only('Part');
    const named = root.all('Part').map(partOf);
    checkOrder(named);
    const upload = request.query.get('uploadId') ?? '';
    const version = await context.store.commit('completeUpload', {
      upload,
      bucket: bucket.id,
      key,
      parts: named,
      // One that is not there may have been completed before: the store knows, and answers the same again.
      checksum: context.store.upload(upload) === undefined ? null : await checkedChecksum(request, named),
      ...writeConditions(request),
      cause: causeOf(request),
      at: now,
    });
    return reply(request, version);
  },
};

export const abortMultipartUpload: S3Operation = {
  name: 'AbortMultipartUpload',
  class: 'delete',
  subject: 'object',
  action: 's3:AbortMultipartUpload',
  changes: true,
  async run(request) {
    const { bucket, context, key, now } = request;
    await context.store.commit('abortUpload', { upload: uploadOf(request).id, bucket: bucket.id, key, at: now });
    return NO_CONTENT;
  },
};

function reply(request: S3Request, version: WrittenVersion): S3Reply {
  const { bucket, key, settings } = request;
  const path = `${encodePart(bucket.name)}/${encodePart(key).replaceAll('%2F', '/')}`;
  return xmlReply(
    'CompleteMultipartUploadResult',
    field('Location', `${settings.publicUrl}/${path}`) +
      field('Bucket', bucket.name) +
      field('Key', key) +
      field('ETag', quoted(version.etag)) +
      checksumFields(version.attributes.checksum),
    {
      ...versionHeader(bucket, version),
      ...(version.attributes.encryption !== undefined && { 'x-amz-server-side-encryption': 'AES256' }),
      ...expirationHeader(bucket, version),
    },
  );
}

function partOf(part: XmlElement): NamedPart {
  const digits = part.need('PartNumber').trim();
  const number = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (!Number.isInteger(number) || number < 1 || number > MOST_PARTS) {
    throw new S3Error('InvalidArgument', `PartNumber must be an integer between 1 and ${MOST_PARTS}.`);
  }
  part.only('PartNumber', 'ETag', ...CHECKSUM_ELEMENTS.keys());
  const checksums = new Map<string, string>();
  for (const [name, algorithm] of CHECKSUM_ELEMENTS) {
    const value = part.text(name)?.trim();
    if (value !== undefined && value !== '') checksums.set(algorithm, value);
  }
  return { number, etag: bareTag(part.need('ETag')), checksums };
}

function checkOrder(parts: readonly NamedPart[]): void {
  if (parts.length === 0) throw new S3Error('MalformedXML', 'You must specify at least one part');
  if (parts.length > MOST_PARTS) throw new S3Error('MalformedXML', `An object has at most ${MOST_PARTS} parts.`);
  for (let at = 1; at < parts.length; at++) {
    if ((parts[at]?.number ?? 0) <= (parts[at - 1]?.number ?? 0)) throw new S3Error('InvalidPartOrder');
  }
}

/** Holds the parts named against those that came; the checksum of the whole follows from theirs. */
async function checkedChecksum(request: S3Request, named: readonly NamedPart[]): Promise<Checksum | null> {
  const upload = uploadOf(request);
  const parts = match(upload, named, request.context.store.parts(upload.id, { after: 0, limit: MOST_PARTS }));
  await checkSize(request, parts);
  const checksum = checksumOfWhole(upload, parts);
  compareChecksum(request, checksum);
  return checksum;
}

function match(upload: Upload, named: readonly NamedPart[], present: readonly Part[]): Part[] {
  const byNumber = new Map(present.map((part) => [part.number, part]));
  return named.map(({ number, etag, checksums }, at) => {
    const part = byNumber.get(number);
    const details = { UploadId: upload.id, PartNumber: String(number), ETag: etag.slice(0, 64) };
    if (part?.etag !== etag || !hasChecksums(part, checksums)) throw new S3Error('InvalidPart', undefined, details);
    if (part.size < LEAST_PART_BYTES && at < named.length - 1) {
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
        ProposedSize: String(part.size),
        MinSizeAllowed: String(LEAST_PART_BYTES),
        PartNumber: String(number),
        ETag: etag,
      });
    }
    return part;
  });
}

/** A checksum that is named and was never computed proves nothing, so the part is not what the client means. */
function hasChecksums({ checksum }: Part, named: NamedPart['checksums']): boolean {
  for (const [algorithm, value] of named) {
    if (checksum?.algorithm !== algorithm || checksum.value !== value) return false;
  }
  return true;
}

async function checkSize(request: S3Request, parts: readonly Part[]): Promise<void> {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  if (size > MOST_OBJECT_BYTES) throw new S3Error('EntityTooLarge', 'An object has at most 5 TiB.');
  const expected = request.header('x-amz-mp-object-size');
  if (expected !== undefined && Number(expected) !== size) {
    throw new S3Error(
      'InvalidRequest',
      `The provided 'x-amz-mp-object-size' header does not match: the parts have ${size} bytes.`,
    );
  }
  checkQuota(request.bucket, size);
  await checkAccountQuota(request, size);
}

function checksumOfWhole(
  { checksumAlgorithm: algorithm, checksumType: type }: Upload,
  parts: readonly Part[],
): Checksum | null {
  if (algorithm === null || type === null) return null;
  const sums = parts.map(({ checksum, size }) => ({ value: checksum?.value ?? '', size }));
  if (sums.some(({ value }) => value === '')) return null;
  if (type === 'FULL_OBJECT') return { algorithm, type, value: fullChecksum(algorithm, sums) };
  const values = sums.map(({ value }) => value);
  return { algorithm, type, value: compositeChecksum(values, (bytes) => checksumOf(algorithm, bytes)) };
}

/** What the client says of the whole must be what came of the parts. */
function compareChecksum(request: S3Request, checksum: Checksum | null): void {
  const type = request.header('x-amz-checksum-type')?.toUpperCase();
  if (type !== undefined && checksum !== null && type !== checksum.type) {
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using the ${checksum.type} checksum mode. The complete request must use the same checksum mode.`,
    );
  }
  for (const [name, algorithm] of Object.entries(CHECKSUM_HEADERS)) {
    const said = request.header(name);
    if (said === undefined) continue;
    if (checksum?.algorithm !== algorithm) {
      throw new S3Error(
        'InvalidRequest',
        `The upload has no ${algorithm} checksum that ${name} could be compared with.`,
      );
    }
    if (said === checksum.value || said === checksum.value.replace(/-\d+$/, '')) continue;
    throw new S3Error('BadDigest', `The ${algorithm} you specified did not match the calculated checksum.`);
  }
}
