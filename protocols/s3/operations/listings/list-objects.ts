import type { Listing } from '@granary/storage/object-store';
import type { S3Operation, S3Reply, S3Request } from '../../request.ts';
import { element, field, xmlPieces } from '../../xml.ts';
import { afterToken, countOf, given, keyText, MOST_LISTED, tokenOf, type KeyText } from './list-parameters.ts';
import { listedEntries } from './listed-entries.ts';
import { type Owners, ownersOf } from '../replies.ts';

interface Asked {
  readonly prefix: string;
  readonly delimiter: string | null;
  readonly limit: number;
  readonly text: KeyText;
}

/** The first form of the listing: goes on after a key, tells owners always. */
export const listObjects: S3Operation = {
  name: 'ListObjects',
  class: 'get',
  subject: 'bucket',
  action: 's3:ListBucket',
  changes: false,
  async run(request) {
    const { bucket, query } = request;
    const asked = askedBy(request);
    const marker = given(query, 'marker');
    const listing = find(request, asked, marker);
    const owners = await ownersOf(request, listing.objects);
    const { text } = asked;
    return listReply(
      request,
      field('Name', bucket.name) +
        field('Prefix', text(asked.prefix)) +
        field('Marker', text(marker ?? '')) +
        field('NextMarker', listing.next === null || asked.delimiter === null ? null : text(listing.next)) +
        common(asked, listing),
      listing,
      text,
      owners,
    );
  },
};

/** The second form: goes on after a token, tells owners when asked to. */
export const listObjectsV2: S3Operation = {
  name: 'ListObjectsV2',
  class: 'get',
  subject: 'bucket',
  action: 's3:ListBucket',
  changes: false,
  async run(request) {
    const { bucket, query } = request;
    const asked = askedBy(request);
    const startAfter = given(query, 'start-after');
    const listing = find(request, asked, afterToken(query) ?? startAfter);
    const owners = query.get('fetch-owner') === 'true' ? await ownersOf(request, listing.objects) : new Map();
    const { text } = asked;
    return listReply(
      request,
      field('Name', bucket.name) +
        field('Prefix', text(asked.prefix)) +
        field('StartAfter', startAfter === null ? null : text(startAfter)) +
        field('ContinuationToken', query.get('continuation-token')) +
        field('NextContinuationToken', listing.next === null ? null : tokenOf(listing.next)) +
        field('KeyCount', listing.objects.length + listing.prefixes.length) +
        common(asked, listing),
      listing,
      text,
      owners,
    );
  },
};

function askedBy({ query }: S3Request): Asked {
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: given(query, 'delimiter'),
    limit: countOf(query, 'max-keys', MOST_LISTED),
    text: keyText(query),
  };
}

function find(request: S3Request, { prefix, delimiter, limit }: Asked, after: string | null): Listing {
  // A client that asks for no keys gets none, and IsTruncated is false.
  if (limit === 0) return { objects: [], prefixes: [], next: null };
  return request.context.store.list(request.bucket.id, { prefix, delimiter, after, limit });
}

function common({ limit, delimiter, text }: Asked, listing: Listing): string {
  return (
    field('MaxKeys', limit) +
    field('Delimiter', delimiter === null ? null : text(delimiter)) +
    field('EncodingType', text.type) +
    field('IsTruncated', listing.next !== null)
  );
}

function listReply(
  { context: { store } }: S3Request,
  head: string,
  { objects, prefixes }: Listing,
  text: KeyText,
  owners: Owners,
): S3Reply {
  const rolledUp = prefixes.map((prefix) => element('CommonPrefixes', field('Prefix', text(prefix))));
  return {
    status: 200,
    body: xmlPieces('ListBucketResult', [head, ...listedEntries(objects, text, owners, store), ...rolledUp]),
  };
}
