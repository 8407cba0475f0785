import type { Bucket, ListedVersion } from '@granary/storage/object-store';
import type { ObjectCatalogue } from '../engine/engine.ts';

/** The entry of a bucket that a walk looked at last. */
export interface LastEntry {
  readonly key: string;
  readonly sequence: number;
  readonly modifiedAt: number;
  /** Hidden entries of its key so far, itself among them. */
  readonly hidden: number;
}

/** A version or a delete marker with what rules ask of its neighbours. */
export interface Entry {
  readonly version: ListedVersion;
  /** What came after it and hides it. */
  readonly newer: LastEntry | undefined;
  /** Whether nothing older is there. */
  readonly isLast: () => boolean;
}

type Reader = Pick<ObjectCatalogue, 'listVersions'>;

/** One stretch of a walk over everything in a bucket, behind the entry that was looked at last. */
export function entriesFrom(
  reader: Reader,
  bucket: Bucket,
  before: LastEntry | null,
  limit: number,
): { readonly entries: readonly Entry[]; readonly last: LastEntry | null; readonly isEnd: boolean } {
  // By its sequence even when it has no id of its own: it may be gone, and the walk goes on behind it all the same.
  const after = before && { key: before.key, versionId: before.sequence.toString(16) };
  const { versions, next } = reader.listVersions(bucket.id, { prefix: '', delimiter: null, after, limit });
  const entries: Entry[] = [];
  let last = before;
  for (const [index, version] of versions.entries()) {
    const newer = last?.key === version.key ? last : undefined;
    const isLast = () =>
      index + 1 < versions.length
        ? versions[index + 1]?.key !== version.key
        : next === null || !hasOlder(reader, bucket, version);
    entries.push({ version, newer, isLast });
    const { key, sequence, modifiedAt } = version;
    last = { key, sequence, modifiedAt, hidden: newer ? newer.hidden + 1 : 0 };
  }
  return { entries, last, isEnd: next === null };
}

function hasOlder(reader: Reader, bucket: Bucket, { key, sequence }: ListedVersion): boolean {
  const after = { key, versionId: sequence.toString(16) };
  const { versions } = reader.listVersions(bucket.id, { prefix: key, delimiter: null, after, limit: 1 });
  return versions[0]?.key === key;
}
