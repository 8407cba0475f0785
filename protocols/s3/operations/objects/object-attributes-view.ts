import type { ObjectVersion } from '@granary/storage/object-store';
import { keyToRead } from '../../encryption/encryption.ts';
import { badArgument } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { storageClassOf } from '../storage-class.ts';
import { shown } from './object-content.ts';
import { httpDate } from '../dates.ts';
import { checksumFields, versionHeader, xmlReply } from '../replies.ts';
import { objectVersion } from './versions.ts';

const KNOWN = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'];
const MOST_PARTS_SHOWN = 1000;

export const getObjectAttributes: S3Operation = {
  name: 'GetObjectAttributes',
  class: 'get',
  subject: 'object',
  action: 's3:GetObjectAttributes',
  versionAction: 's3:GetObjectVersionAttributes',
  changes: false,
  run(request) {
    const header = request.header('x-amz-object-attributes') ?? '';
    const asked = header.split(',').map((name) => name.trim());
    if (asked.some((name) => !KNOWN.includes(name))) {
      throw badArgument(
        'x-amz-object-attributes',
        header,
        `Invalid attribute name specified: there are ${KNOWN.join(', ')}.`,
      );
    }
    const version = objectVersion(request);
    keyToRead(request, version);
    const { attributes } = version;
    const { etag, size } = shown(version);
    const checksum = attributes.checksum === undefined ? '' : element('Checksum', checksumFields(attributes.checksum));
    return xmlReply(
      'GetObjectAttributesResponse',
      (asked.includes('ETag') ? field('ETag', etag) : '') +
        (asked.includes('Checksum') ? checksum : '') +
        (asked.includes('ObjectParts') ? partsElement(request, version) : '') +
        (asked.includes('StorageClass')
          ? field('StorageClass', storageClassOf(request.context.store, attributes))
          : '') +
        (asked.includes('ObjectSize') ? field('ObjectSize', size) : ''),
      { 'last-modified': httpDate(version.modifiedAt), ...versionHeader(request.bucket, version) },
    );
  },
};

/** Of an object that was put in parts; one that was put whole has none. */
function partsElement(request: S3Request, { attributes }: ObjectVersion): string {
  const sizes = attributes.partSizes;
  if (sizes === undefined || sizes.length === 0) return '';
  const checksums = attributes.partChecksums;
  const algorithm = attributes.checksum?.algorithm;
  const most = Math.min(numberOf(request, 'x-amz-max-parts', MOST_PARTS_SHOWN), MOST_PARTS_SHOWN);
  const marker = numberOf(request, 'x-amz-part-number-marker', 0);
  const shown = sizes.slice(marker, marker + most).map((size, at) => {
    const number = marker + at + 1;
    return element(
      'Part',
      field('PartNumber', number) +
        field('Size', size) +
        (algorithm === undefined ? '' : field(`Checksum${algorithm}`, checksums?.[number - 1])),
    );
  });
  return element(
    'ObjectParts',
    field('PartsCount', sizes.length) +
      field('PartNumberMarker', marker) +
      field('NextPartNumberMarker', marker + shown.length) +
      field('MaxParts', most) +
      field('IsTruncated', marker + shown.length < sizes.length) +
      shown.join(''),
  );
}

function numberOf(request: S3Request, name: string, otherwise: number): number {
  const text = request.header(name);
  if (text === undefined || text === '') return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw badArgument(name, text, `${name} must be a number.`);
  return Number(text);
}
