import type { Bucket } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { afterToken, countOf, given, tokenOf } from '../listings/list-parameters.ts';
import { isoDate } from '../dates.ts';
import { ownerElement, xmlReply } from '../replies.ts';

/** As many as S3 answers to clients that know nothing of pages. */
const MOST_BUCKETS = 10_000;

export const listBuckets: S3Operation = {
  name: 'ListBuckets',
  class: 'get',
  subject: 'service',
  action: 's3:ListAllMyBuckets',
  changes: false,
  async run(request) {
    const { caller, query } = request;
    if (caller === null) throw new S3Error('AccessDenied', 'Sign the request: anonymous callers have no buckets.');
    const limit = countOf(query, 'max-buckets', MOST_BUCKETS, 1);
    const prefix = given(query, 'prefix');
    const after = afterToken(query);
    const found = request.context.store.buckets(caller.account, {
      ...(prefix !== null && { prefix }),
      ...(after !== null && { after }),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return xmlReply(
      'ListAllMyBucketsResult',
      (await ownerElement(request, caller.account)) +
        element('Buckets', page.map((bucket) => bucketElement(request, bucket)).join('')) +
        field('ContinuationToken', found.length > limit && last !== undefined ? tokenOf(last.name) : null) +
        field('Prefix', prefix),
    );
  },
};

function bucketElement(request: S3Request, bucket: Bucket): string {
  return element(
    'Bucket',
    field('Name', bucket.name) +
      field('CreationDate', isoDate(bucket.createdAt)) +
      field('BucketRegion', request.settings.region),
  );
}
