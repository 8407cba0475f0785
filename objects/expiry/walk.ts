import {
  expiryOf,
  markerExpiryOf,
  noncurrentExpiryOf,
  policyDue,
  uploadExpiryOf,
  type Bucket,
  type ListedVersion,
  type Upload,
} from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';
import { entriesFrom, type Entry, type LastEntry } from './entries.ts';

/** Where a walk over a bucket goes on. */
export type Position =
  | {
      readonly phase: 'versions';
      /** The entry looked at last; null at the beginning. */
      readonly last: LastEntry | null;
    }
  | { readonly phase: 'uploads'; readonly after: { readonly key: string; readonly id: string } | null };

/** What the rules take away. */
export type Doomed =
  | { readonly kind: 'current'; readonly version: ListedVersion }
  | { readonly kind: 'noncurrent'; readonly version: ListedVersion }
  | { readonly kind: 'marker'; readonly version: ListedVersion }
  | { readonly kind: 'upload'; readonly upload: Upload };

export interface Step {
  readonly doomed: readonly Doomed[];
  /** Null at the end. */
  readonly next: Position | null;
}

export const START: Position = { phase: 'versions', last: null };

type Reader = Pick<ObjectCatalogue, 'listVersions' | 'uploads'>;

const DAY_MS = 86_400_000;

/** One stretch of a walk over everything in a bucket. */
export function stepOf(reader: Reader, bucket: Bucket, position: Position, now: number, limit: number): Step {
  return position.phase === 'versions'
    ? versionStep(reader, bucket, position.last, now, limit)
    : uploadStep(reader, bucket, position.after, now, limit);
}

function versionStep(reader: Reader, bucket: Bucket, before: LastEntry | null, now: number, limit: number): Step {
  const doomed: Doomed[] = [];
  const { entries, last, isEnd } = entriesFrom(reader, bucket, before, limit);
  for (const entry of entries) {
    const kind = fateOf(bucket, entry, now);
    if (kind) doomed.push({ kind, version: entry.version });
  }
  return { doomed, next: isEnd ? { phase: 'uploads', after: null } : { phase: 'versions', last } };
}

function fateOf(
  bucket: Bucket,
  { version, newer, isLast }: Entry,
  now: number,
): Exclude<Doomed['kind'], 'upload'> | undefined {
  const { lifecycle } = bucket.settings;
  const due = (expiry: { readonly at: number } | undefined) => expiry !== undefined && expiry.at <= now;
  if (newer)
    return due(noncurrentExpiryOf(lifecycle, version, newer.modifiedAt, newer.hidden)) ? 'noncurrent' : undefined;
  if (!version.isDeleteMarker) {
    const expiry = expiryOf(lifecycle, version);
    return due(expiry) && !movesFirst(bucket, version, expiry, now) ? 'current' : undefined;
  }
  // A marker that still hides something has to stay.
  return due(markerExpiryOf(lifecycle, version)) && isLast() ? 'marker' : undefined;
}

/** What is only hidden moves before: it has a day for that, as its days as a hidden one begin when the marker comes. */
function movesFirst(
  bucket: Bucket,
  version: ListedVersion,
  expiry: { readonly at: number } | undefined,
  now: number,
): boolean {
  if (bucket.versioning !== 'enabled' || expiry === undefined || now >= expiry.at + DAY_MS) return false;
  const policy = policyDue(bucket.settings, version, now);
  return policy !== undefined && policy !== (version.attributes.policy ?? bucket.policy);
}

function uploadStep(
  reader: Reader,
  bucket: Bucket,
  after: { readonly key: string; readonly id: string } | null,
  now: number,
  limit: number,
): Step {
  const { uploads, next } = reader.uploads(bucket.id, { prefix: '', delimiter: null, after, limit });
  const doomed = uploads
    .filter((upload) => (uploadExpiryOf(bucket.settings.lifecycle, upload)?.at ?? Infinity) <= now)
    .map((upload) => ({ kind: 'upload' as const, upload }));
  const last = uploads.at(-1);
  return { doomed, next: next === null || !last ? null : { phase: 'uploads', after: { key: last.key, id: last.id } } };
}
