import {
  expiryOf,
  markerExpiryOf,
  noncurrentExpiryOf,
  uploadExpiryOf,
  type Bucket,
  type ListedVersion,
  type Upload,
} from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';

/** Where a walk over a bucket goes on. */
export type Position =
  | {
      readonly phase: 'versions';
      /** The entry looked at last; null at the beginning. */
      readonly last: LastEntry | null;
    }
  | { readonly phase: 'uploads'; readonly after: { readonly key: string; readonly id: string } | null };

interface LastEntry {
  readonly key: string;
  readonly sequence: number;
  readonly modifiedAt: number;
  /** Hidden entries of its key so far, itself among them. */
  readonly hidden: number;
}

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

/** One stretch of a walk over everything in a bucket. */
export function stepOf(reader: Reader, bucket: Bucket, position: Position, now: number, limit: number): Step {
  return position.phase === 'versions'
    ? versionStep(reader, bucket, position.last, now, limit)
    : uploadStep(reader, bucket, position.after, now, limit);
}

function versionStep(reader: Reader, bucket: Bucket, before: LastEntry | null, now: number, limit: number): Step {
  // By its sequence even when it has no id of its own: it may be gone, and the walk goes on behind it all the same.
  const after = before && { key: before.key, versionId: before.sequence.toString(16) };
  const { versions, next } = reader.listVersions(bucket.id, { prefix: '', delimiter: null, after, limit });
  const doomed: Doomed[] = [];
  let last = before;
  for (const [index, version] of versions.entries()) {
    const newer = last?.key === version.key ? last : undefined;
    const isLast = () =>
      index + 1 < versions.length
        ? versions[index + 1]?.key !== version.key
        : next === null || !hasOlder(reader, bucket, version);
    const kind = fateOf(bucket, version, newer, isLast, now);
    if (kind) doomed.push({ kind, version });
    const { key, sequence, modifiedAt } = version;
    last = { key, sequence, modifiedAt, hidden: newer ? newer.hidden + 1 : 0 };
  }
  return { doomed, next: next === null ? { phase: 'uploads', after: null } : { phase: 'versions', last } };
}

function fateOf(
  { settings: { lifecycle } }: Bucket,
  version: ListedVersion,
  newer: LastEntry | undefined,
  isLast: () => boolean,
  now: number,
): Exclude<Doomed['kind'], 'upload'> | undefined {
  const due = (expiry: { readonly at: number } | undefined) => expiry !== undefined && expiry.at <= now;
  if (newer)
    return due(noncurrentExpiryOf(lifecycle, version, newer.modifiedAt, newer.hidden)) ? 'noncurrent' : undefined;
  if (!version.isDeleteMarker) return due(expiryOf(lifecycle, version)) ? 'current' : undefined;
  // A marker that still hides something has to stay.
  return due(markerExpiryOf(lifecycle, version)) && isLast() ? 'marker' : undefined;
}

function hasOlder(reader: Reader, bucket: Bucket, { key, sequence }: ListedVersion): boolean {
  const after = { key, versionId: sequence.toString(16) };
  const { versions } = reader.listVersions(bucket.id, { prefix: key, delimiter: null, after, limit: 1 });
  return versions[0]?.key === key;
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
