import type { Bucket, ByteRange, ObjectStore, ObjectVersion } from '@granary/storage/object-store';

/**
 * A static large object is a manifest (JSON, kept as the object's bytes) of other objects of the same account, its
 * segments. Readers of any protocol get what the segments hold, one after the other.
 */

export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;
/** Manifests may name manifests, this deep. */
export const MAX_MANIFEST_DEPTH = 10;

/** An entry as manifests keep it. */
export interface StaticSegment {
  /** `/container/object`. */
  readonly name: string;
  /** Of the whole segment, though only a range of it may be used. */
  readonly bytes: number;
  readonly hash: string;
  readonly content_type: string;
  readonly last_modified: string;
  /** The segment is a manifest itself. */
  readonly sub_slo?: boolean;
  /** `first-last`, both included. */
  readonly range?: string;
  /** Bytes of the manifest itself, base64: there is no object, and no name of one. */
  readonly data?: string;
}

/** A segment is gone, was changed since, or is not open to the reader. */
export class BrokenManifestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenManifestError';
  }
}

export interface LargeObjectOptions {
  /** Whether the reader may read a segment, which may be in another bucket. Absent: any of the account. */
  readonly mayRead?: (bucket: Bucket, key: string) => boolean;
  /** For segments that have expired; absent: the clock of this machine. */
  readonly now?: number;
}

/** What of a segment belongs to the large object. */
export function segmentRange(segment: StaticSegment): ByteRange {
  if (segment.range === undefined) return { start: 0, end: segment.bytes };
  const [first = '', last = ''] = segment.range.split('-', 2);
  return { start: Number(first), end: Number(last) + 1 };
}

export async function readManifest(store: ObjectStore, version: ObjectVersion): Promise<readonly StaticSegment[]> {
  if (version.size > MAX_MANIFEST_BYTES) throw new BrokenManifestError('the manifest is too large');
  const bytes = await store.readWhole(version);
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly StaticSegment[];
  } catch {
    throw new BrokenManifestError('the manifest cannot be read');
  }
}

/** The segment as it is now, if it still is what the manifest says. */
function findSegment(
  store: ObjectStore,
  account: string,
  segment: StaticSegment,
  options: LargeObjectOptions,
): ObjectVersion {
  const slash = segment.name.indexOf('/', 1);
  const bucket = store.bucket(account, segment.name.slice(1, slash));
  if (bucket === undefined) throw new BrokenManifestError(`${segment.name} is gone`);
  const key = segment.name.slice(slash + 1);
  if (options.mayRead?.(bucket, key) === false) throw new BrokenManifestError(`${segment.name} is not open to you`);
  const version = store.version(bucket.id, key);
  if (version === undefined || (version.expiresAt !== null && version.expiresAt <= (options.now ?? Date.now()))) {
    throw new BrokenManifestError(`${segment.name} is gone`);
  }
  const { etag, size } = (segment.sub_slo === true ? version.attributes.staticManifest : undefined) ?? version;
  if (etag !== segment.hash || size !== segment.bytes) throw new BrokenManifestError(`${segment.name} has changed`);
  return version;
}

async function* readSegments(
  store: ObjectStore,
  manifest: ObjectVersion,
  wanted: ByteRange,
  options: LargeObjectOptions,
  depth: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (depth > MAX_MANIFEST_DEPTH) throw new BrokenManifestError('manifests are nested too deep');
  const account = store.bucketById(manifest.bucket)?.account ?? '';
  let position = 0;
  for (const segment of await readManifest(store, manifest)) {
    const used = segmentRange(segment);
    const from = Math.max(wanted.start - position, 0);
    const to = Math.min(wanted.end - position, used.end - used.start);
    position += used.end - used.start;
    if (to <= from) {
      if (position >= wanted.end) return;
      continue;
    }
    const range = { start: used.start + from, end: used.start + to };
    if (segment.data !== undefined) {
      yield Buffer.from(segment.data, 'base64').subarray(range.start, range.end);
      continue;
    }
    const version = findSegment(store, account, segment, options);
    if (segment.sub_slo === true) yield* readSegments(store, version, range, options, depth + 1);
    else yield* store.read(version, range);
  }
}

async function* startingWith(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (first.done === true) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/**
 * Bytes of the large object whose manifest `version` is (`attributes.staticManifest` is there and tells its size). The
 * first bytes are read before it resolves, so that a broken manifest is reported by a rejection (BrokenManifestError) while
 * there still is an answer to choose; the iterable may reject later on for the same reason.
 */
export async function openStaticLargeObject(
  store: ObjectStore,
  version: ObjectVersion,
  range?: ByteRange,
  options: LargeObjectOptions = {},
): Promise<AsyncIterable<Uint8Array>> {
  const wanted = range ?? { start: 0, end: version.attributes.staticManifest?.size ?? 0 };
  const bytes = readSegments(store, version, wanted, options, 1);
  return startingWith(await bytes.next(), bytes);
}
