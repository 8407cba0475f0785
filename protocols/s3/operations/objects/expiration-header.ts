import type { OutgoingHttpHeaders } from 'node:http';
import { expiryOf, type Bucket, type WrittenVersion } from '@granary/storage/object-store';
import { httpDate } from '../dates.ts';

/** Tells when the bucket's rules will remove an object; nothing where they will not. */
export function expirationHeader(bucket: Bucket, version: WrittenVersion): OutgoingHttpHeaders {
  const expiry = version.isLatest ? expiryOf(bucket.settings.lifecycle, version) : undefined;
  if (expiry === undefined) return {};
  return { 'x-amz-expiration': `expiry-date="${httpDate(expiry.at)}", rule-id="${encodeURIComponent(expiry.rule)}"` };
}
