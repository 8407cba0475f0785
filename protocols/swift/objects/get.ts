import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ObjectError, type Bucket, type ByteRange, type ObjectVersion } from '@granary/storage/object-store';
import { tempUrlHeaders } from '../access/temp-url.ts';
import { findContainer } from '../containers/find.ts';
import { showManifest } from '../large/static.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftReply } from '../request/request.ts';
import { objectHeaders } from './attributes.ts';
import { isNotModified, rangeHolds } from './conditions.ts';
import { demandVersion } from './find.ts';
import { contentRange, parseRanges } from './ranges.ts';
import type { Whole } from '../large/readable.ts';
import { openWhole, plainObject } from './whole.ts';

async function* parts(
  whole: Whole,
  ranges: readonly ByteRange[],
  heads: readonly string[],
  tail: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const [index, range] of ranges.entries()) {
    yield Buffer.from(heads[index] ?? '', 'latin1');
    const bytes = await whole.read(range);
    if (bytes instanceof Uint8Array) yield bytes;
    else yield* bytes;
  }
  yield Buffer.from(tail, 'latin1');
}

/** Several ranges are answered as a multipart document whose length is known beforehand. */
function multipart(whole: Whole, ranges: readonly ByteRange[], headers: OutgoingHttpHeaders): SwiftReply {
  const boundary = randomBytes(16).toString('hex');
  const type = String(headers['Content-Type']);
  const heads = ranges.map(
    (range, index) =>
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Type: ${type}\r\n` +
      `Content-Range: ${contentRange(range, whole.size)}\r\n\r\n`,
  );
  const tail = `\r\n--${boundary}--\r\n`;
  const length = ranges.reduce((sum, range) => sum + range.end - range.start, heads.join('').length + tail.length);
  return {
    status: 206,
    headers: {
      ...headers,
      'Content-Type': `multipart/byteranges; boundary=${boundary}`,
      'Content-Length': length,
    },
    body: parts(whole, ranges, heads, tail),
  };
}

async function bytesReply(
  method: string,
  header: string | undefined,
  whole: Whole,
  headers: OutgoingHttpHeaders,
): Promise<SwiftReply> {
  if (method === 'HEAD') return { status: 200, headers: { ...headers, 'Content-Length': whole.size } };
  const ranges = header === undefined ? undefined : parseRanges(header, whole.size);
  if (ranges === undefined) {
    const body = whole.size === 0 ? new Uint8Array(0) : await whole.read({ start: 0, end: whole.size });
    return { status: 200, headers: { ...headers, 'Content-Length': whole.size }, body };
  }
  const [range] = ranges;
  if (range === undefined) {
    throw new SwiftRefusal(416, 'The range does not lie in the object.', { 'content-range': `bytes */${whole.size}` });
  }
  if (ranges.length > 1) return multipart(whole, ranges, headers);
  const partial = { 'Content-Range': contentRange(range, whole.size), 'Content-Length': range.end - range.start };
  return { status: 206, headers: { ...headers, ...partial }, body: await whole.read(range) };
}

/** Conditions first, then ranges: a range of an object that has changed meanwhile is the whole of the new one. */
async function answer(request: ObjectRequest, version: ObjectVersion, whole: Whole): Promise<SwiftReply> {
  const { query, access, object } = request;
  const all = { ...objectHeaders(version), Etag: whole.etag };
  const headers = access.isTemporary ? tempUrlHeaders(all, query, object) : all;
  const header = (name: string) => request.header(name);
  if (isNotModified(header, whole.etag, version.modifiedAt)) return { status: 304, headers };
  const range = rangeHolds(header, whole.etag, version.modifiedAt) ? header('range') : undefined;
  return bytesReply(request.method, range, whole, headers);
}

async function readOnce(request: ObjectRequest, bucket: Bucket): Promise<SwiftReply> {
  const { store, object, now, query } = request;
  const version = demandVersion(store, bucket, object, now, query.get('version-id'));
  if (query.get('multipart-manifest') === 'get') {
    if (version.attributes.staticManifest !== undefined || version.etag.includes('-')) {
      return showManifest(request, version);
    }
    return answer(request, version, plainObject(request, version));
  }
  return answer(request, version, await openWhole(request, version));
}

const TRIES = 5;

/** An object that is replaced between being found and being read is there all the time: readers get the next version. */
export async function getObject(request: ObjectRequest): Promise<SwiftReply> {
  const { access, object, query } = request;
  const bucket = findContainer(request, (found) => access.mayRead(found, object, query.get('version-id')));
  for (let tries = 1; ; tries++) {
    try {
      return await readOnce(request, bucket);
    } catch (error) {
      if (tries >= TRIES || !(error instanceof ObjectError) || error.code !== 'no-such-version') throw error;
    }
  }
}
