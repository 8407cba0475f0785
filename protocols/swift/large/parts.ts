import type { ByteRange, ObjectStore, ObjectVersion } from '@granary/storage/object-store';
import { readManifest, segmentRange } from '../../objects/static-large-object.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftRequest } from '../request/request.ts';

/** One part of a large object, as `part-number` asks for it. */
export interface Part {
  readonly range: ByteRange;
  /** How many parts the object has. */
  readonly count: number;
}

/** Sizes of the segments of a manifest, or of the parts of another protocol's upload; undefined where there are none. */
async function partSizes(store: ObjectStore, version: ObjectVersion): Promise<readonly number[] | undefined> {
  if (version.attributes.staticManifest === undefined) return version.attributes.partSizes;
  const segments = await readManifest(store, version);
  return segments.map(segmentRange).map(({ start, end }) => end - start);
}

function numberOf(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1) throw new SwiftRefusal(400, 'Part number must be an integer greater than 0');
  return number;
}

/** The part that a request asks for; undefined where it asks for none, or the object has none. */
export async function partAsked(
  { query, store, header }: Pick<SwiftRequest, 'query' | 'store' | 'header'>,
  version: ObjectVersion,
): Promise<Part | undefined> {
  const text = query.get('part-number');
  if (text === undefined) return undefined;
  const number = numberOf(text);
  if (header('range') !== undefined) {
    throw new SwiftRefusal(400, 'Range requests are not supported with part number queries');
  }
  const sizes = await partSizes(store, version);
  if (sizes === undefined) return undefined;
  const size = sizes[number - 1];
  if (size === undefined) {
    throw new SwiftRefusal(416, `The object has ${sizes.length} parts.`, { 'x-parts-count': String(sizes.length) });
  }
  const start = sizes.slice(0, number - 1).reduce((sum, each) => sum + each, 0);
  return { range: { start, end: start + size }, count: sizes.length };
}
