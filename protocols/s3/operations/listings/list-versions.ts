import type { ListedVersion } from '@granary/storage/object-store';
import { badArgument } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { countOf, given, keyText, MOST_LISTED, type KeyText } from './list-parameters.ts';
import { storageClassOf } from '../storage-class.ts';
import { shown } from '../objects/object-content.ts';
import { isoDate } from '../dates.ts';
import { ownersOf, quoted, xmlReply } from '../replies.ts';

export const listObjectVersions: S3Operation = {
  name: 'ListObjectVersions',
  class: 'get',
  subject: 'bucket',
  action: 's3:ListBucketVersions',
  changes: false,
  async run(request) {
    const { bucket, query } = request;
    const { store } = request.context;
    const text = keyText(query);
    const prefix = query.get('prefix') ?? '';
    const delimiter = given(query, 'delimiter');
    const key = given(query, 'key-marker');
    const versionId = given(query, 'version-id-marker');
    if (versionId !== null && key === null) {
      throw badArgument('version-id-marker', versionId, 'A version-id marker cannot be given without a key marker.');
    }
    const limit = countOf(query, 'max-keys', MOST_LISTED);
    const after = key === null ? null : { key, versionId };
    const listing =
      limit === 0
        ? { versions: [], prefixes: [], next: null }
        : store.listVersions(bucket.id, { prefix, delimiter, after, limit });
    const owners = await ownersOf(request, listing.versions);
    return xmlReply(
      'ListVersionsResult',
      field('Name', bucket.name) +
        field('Prefix', text(prefix)) +
        field('KeyMarker', text(key ?? '')) +
        field('VersionIdMarker', versionId ?? '') +
        field('NextKeyMarker', listing.next === null ? null : text(listing.next.key)) +
        field('NextVersionIdMarker', listing.next?.versionId) +
        field('MaxKeys', limit) +
        field('Delimiter', delimiter === null ? null : text(delimiter)) +
        field('EncodingType', text.type) +
        field('IsTruncated', listing.next !== null) +
        listing.versions
          .map((version) => {
            const { attributes } = version;
            return entry(version, text, owners.get(attributes.writer) ?? '', storageClassOf(store, attributes));
          })
          .join('') +
        listing.prefixes.map((one) => element('CommonPrefixes', field('Prefix', text(one)))).join(''),
    );
  },
};

function entry(version: ListedVersion, text: KeyText, owner: string, storageClass: string): string {
  const head =
    field('Key', text(version.key)) +
    field('VersionId', version.versionId) +
    field('IsLatest', version.isLatest) +
    field('LastModified', isoDate(version.modifiedAt));
  if (version.isDeleteMarker) return element('DeleteMarker', head + owner);
  const { checksum } = version.attributes;
  return element(
    'Version',
    head +
      field('ETag', quoted(shown(version).etag)) +
      field('ChecksumAlgorithm', checksum?.algorithm) +
      field('ChecksumType', checksum?.type) +
      field('Size', shown(version).size) +
      owner +
      field('StorageClass', storageClass),
  );
}
