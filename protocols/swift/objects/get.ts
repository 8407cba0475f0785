import { randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { ObjectError, type Bucket, type ByteRange, type ObjectVersion } from '@granary/storage/object-store';
import { tempUrlHeaders } from '../access/temp-url.ts';
import { findContainer } from '../containers/find.ts';
import { showManifest } from '../large/static.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftReply } from '../request/request.ts';
import { objectHeaders } from './attributes.ts';
import { judge, rangeHolds } from './conditions.ts';
import { partAsked, type Part } from '../large/parts.ts';
import { demandVersion } from './find.ts';
import { contentRange, parseRanges } from './ranges.ts';
import type { Whole } from '../large/readable.ts';
import { asksForSymlink, followSymlinks } from './symlink.ts';
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

interface Wanted {
  readonly method: string;
  /** The header Range; undefined where it does not hold. */
  readonly range: string | undefined;
  readonly part: Part | undefined;
}

async function bytesReply(wanted: Wanted, whole: Whole, headers: OutgoingHttpHeaders): Promise<SwiftReply> {
  const { method, part } = wanted;
  if (part !== undefined)
    return partialReply(method, part.range, whole, { ...headers, 'X-Parts-Count': String(part.count) });
  if (method === 'HEAD') return { status: 200, headers: { ...headers, 'Content-Length': whole.size } };
  const ranges = wanted.range === undefined ? undefined : parseRanges(wanted.range, whole.size);
  if (ranges === undefined) {
    const body = whole.size === 0 ? new Uint8Array(0) : await whole.read({ start: 0, end: whole.size });
    return { status: 200, headers: { ...headers, 'Content-Length': whole.size }, body };
  }
  const [range] = ranges;
  if (range === undefined) throw unsatisfiable(whole, headers);
  return ranges.length > 1 ? multipart(whole, ranges, headers) : partialReply(method, range, whole, headers);
}

async function partialReply(
  method: string,
  range: ByteRange,
  whole: Whole,
  headers: OutgoingHttpHeaders,
): Promise<SwiftReply> {
  const length = range.end - range.start;
  const shown = { ...headers, 'Content-Range': contentRange(range, whole.size), 'Content-Length': length };
  if (method === 'HEAD') return { status: 206, headers: shown };
  return { status: 206, headers: shown, body: length === 0 ? new Uint8Array(0) : await whole.read(range) };
}

/** What the client asked a range of is shown, so that it can ask again for one that is there. */
function unsatisfiable({ size }: Whole, headers: OutgoingHttpHeaders): SwiftRefusal {
  const { 'Content-Type': _type, ...shown } = headers;
  return new SwiftRefusal(416, 'The range does not lie in the object.', {
    ...shown,
    'Content-Range': `bytes */${size}`,
  });
}

/** Conditions first, then ranges: a range of an object that has changed meanwhile is the whole of the new one. */
async function answer(request: ObjectRequest, version: ObjectVersion, whole: Whole): Promise<SwiftReply> {
  const { query, access, object, method } = request;
  const all = { ...objectHeaders(version), Etag: whole.etag };
  const headers = access.isTemporary ? tempUrlHeaders(all, query, object) : all;
  const header = (name: string) => request.header(name);
  const verdict = judge(header, whole.etag, version.modifiedAt);
  if (verdict !== 'answer') return { status: verdict === 'failed' ? 412 : 304, headers };
  const range = rangeHolds(header, whole.etag, version.modifiedAt) ? header('range') : undefined;
  return bytesReply({ method, range, part: await partAsked(request, version) }, whole, headers);
}

async function show(request: ObjectRequest, version: ObjectVersion): Promise<SwiftReply> {
  if (request.query.get('multipart-manifest') !== 'get') {
    return answer(request, version, await openWhole(request, version));
  }
  if (version.attributes.staticManifest !== undefined || version.etag.includes('-')) {
    return showManifest(request, version);
  }
  return answer(request, version, plainObject(request, version));
}

async function readOnce(request: ObjectRequest, bucket: Bucket): Promise<SwiftReply> {
  const { store, object, now, query, account } = request;
  const version = demandVersion(store, bucket, object, now, query.get('version-id'));
  if (version.attributes.symlink === undefined || asksForSymlink(request)) return show(request, version);
  const target = await followSymlinks(request, { account, bucket, version });
  const reply = await show({ ...request, account: target.account }, target.version);
  return { ...reply, headers: { ...reply.headers, 'Content-Location': target.location ?? undefined } };
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
