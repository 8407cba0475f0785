import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ByteRange, ObjectStore, ObjectVersion } from '@granary/storage/object-store';
import type { Whole } from './readable.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftRequest } from '../request/request.ts';

const PAGE = 1_000;
const MAX_SEGMENTS = 100_000;

/** Every object of a container whose name begins with the prefix, in order: that is the large object. */
async function findSegments(request: SwiftRequest, manifest: string): Promise<ObjectVersion[]> {
  const { store, account, access, now } = request;
  const slash = manifest.indexOf('/');
  const bucket = store.bucket(account.id, manifest.slice(0, slash));
  if (bucket === undefined) throw new SwiftRefusal(404, 'The container of the segments could not be found.');
  const prefix = manifest.slice(slash + 1);
  access.demand(access.mayRead(bucket, prefix), account.id);
  const segments: ObjectVersion[] = [];
  for (let after: string | null = null; ;) {
    const listing = store.list(bucket.id, { prefix, delimiter: null, after, limit: PAGE });
    for (const { key } of listing.objects) {
      access.demand(access.mayRead(bucket, key), account.id);
      const version = store.version(bucket.id, key);
      if (version && (version.expiresAt === null || version.expiresAt > now)) segments.push(version);
    }
    after = listing.next;
    if (after === null) return segments;
    if (segments.length >= MAX_SEGMENTS)
      throw new SwiftRefusal(409, `The object has more than ${MAX_SEGMENTS} segments.`);
    // Others have their turn before the next page.
    await setImmediate();
  }
}

async function* readSegments(
  store: ObjectStore,
  segments: readonly ObjectVersion[],
  wanted: ByteRange,
): AsyncGenerator<Uint8Array, void, undefined> {
  let position = 0;
  for (const segment of segments) {
    const start = Math.max(wanted.start - position, 0);
    const end = Math.min(wanted.end - position, segment.size);
    position += segment.size;
    if (end > start) yield* store.read(segment, { start, end });
    if (position >= wanted.end) return;
  }
}

export async function openDynamicLargeObject(request: SwiftRequest, manifest: string): Promise<Whole> {
  const segments = await findSegments(request, manifest);
  const md5 = createHash('md5');
  for (const segment of segments) md5.update(segment.etag);
  return {
    size: segments.reduce((sum, segment) => sum + segment.size, 0),
    etag: `"${md5.digest('hex')}"`,
    read: (range) => Promise.resolve(readSegments(request.store, segments, range)),
  };
}
