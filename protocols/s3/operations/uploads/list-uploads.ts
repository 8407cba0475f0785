import type { ObjectStore, Part, Upload } from '@granary/storage/object-store';
import type { S3Operation } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { countOf, given, keyText, MOST_LISTED, type KeyText } from '../listings/list-parameters.ts';
import { isoDate } from '../dates.ts';
import { ownerElement, quoted, xmlReply } from '../replies.ts';
import { storageClassOf } from '../storage-class.ts';
import { MOST_PARTS, uploadOf } from './upload.ts';

export const listMultipartUploads: S3Operation = {
  name: 'ListMultipartUploads',
  class: 'get',
  subject: 'bucket',
  action: 's3:ListBucketMultipartUploads',
  changes: false,
  async run(request) {
    const { bucket, query } = request;
    const text = keyText(query);
    const prefix = query.get('prefix') ?? '';
    const delimiter = given(query, 'delimiter');
    const key = given(query, 'key-marker');
    // Without a key marker there is nothing an upload could come after.
    const id = key === null ? null : given(query, 'upload-id-marker');
    const limit = countOf(query, 'max-uploads', MOST_LISTED);
    const after = key === null ? null : { key, id };
    const listing =
      limit === 0
        ? { uploads: [], prefixes: [], next: null }
        : request.context.store.uploads(bucket.id, { prefix, delimiter, after, limit });
    const owner = await ownerElement(request, bucket.account);
    return xmlReply(
      'ListMultipartUploadsResult',
      field('Bucket', bucket.name) +
        field('KeyMarker', text(key ?? '')) +
        field('UploadIdMarker', id ?? '') +
        field('NextKeyMarker', listing.next === null ? null : text(listing.next.key)) +
        field('NextUploadIdMarker', listing.next?.id) +
        field('Delimiter', delimiter === null ? null : text(delimiter)) +
        field('Prefix', text(prefix)) +
        field('EncodingType', text.type) +
        field('MaxUploads', limit) +
        field('IsTruncated', listing.next !== null) +
        listing.uploads.map((upload) => element('Upload', entry(upload, request.context.store, text, owner))).join('') +
        listing.prefixes.map((one) => element('CommonPrefixes', field('Prefix', text(one)))).join(''),
    );
  },
};

export const listParts: S3Operation = {
  name: 'ListParts',
  class: 'get',
  subject: 'object',
  action: 's3:ListMultipartUploadParts',
  changes: false,
  async run(request) {
    const { bucket, key, query } = request;
    const upload = uploadOf(request);
    const text = keyText(query);
    const limit = countOf(query, 'max-parts', MOST_LISTED);
    const after = given(query, 'part-number-marker') === null ? 0 : countOf(query, 'part-number-marker', MOST_PARTS);
    const found = limit === 0 ? [] : request.context.store.parts(upload.id, { after, limit: limit + 1 });
    const page = found.slice(0, limit);
    return xmlReply(
      'ListPartsResult',
      field('Bucket', bucket.name) +
        field('Key', text(key)) +
        field('UploadId', upload.id) +
        field('PartNumberMarker', after) +
        field('NextPartNumberMarker', page.at(-1)?.number ?? after) +
        field('MaxParts', limit) +
        field('EncodingType', text.type) +
        field('IsTruncated', found.length > limit) +
        page.map((part) => element('Part', partFields(part))).join('') +
        initiator(upload) +
        (await ownerElement(request, bucket.account)) +
        field('StorageClass', storageClassOf(request.context.store, upload.attributes)) +
        field('ChecksumAlgorithm', upload.checksumAlgorithm) +
        field('ChecksumType', upload.checksumType),
    );
  },
};

function entry(upload: Upload, store: ObjectStore, text: KeyText, owner: string): string {
  return (
    field('Key', text(upload.key)) +
    field('UploadId', upload.id) +
    initiator(upload) +
    owner +
    field('StorageClass', storageClassOf(store, upload.attributes)) +
    field('Initiated', isoDate(upload.createdAt)) +
    field('ChecksumAlgorithm', upload.checksumAlgorithm) +
    field('ChecksumType', upload.checksumType)
  );
}

function initiator(upload: Upload): string {
  return element('Initiator', field('ID', upload.owner) + field('DisplayName', upload.owner));
}

function partFields(part: Part): string {
  return (
    field('PartNumber', part.number) +
    field('LastModified', isoDate(part.modifiedAt)) +
    field('ETag', quoted(part.etag)) +
    field('Size', part.size) +
    (part.checksum === null ? '' : field(`Checksum${part.checksum.algorithm}`, part.checksum.value))
  );
}
