import { createHash, type Hash } from 'node:crypto';
import { openStaticLargeObject } from '@granary/protocols/objects';
import { headerOfText, REPLICA, REPLICATION_STATUS } from '@granary/protocols/s3/client';
import type { ByteRange, ObjectStore, ObjectVersion } from '@granary/storage/object-store';

/** Up to this size bytes are read in one piece: a stream costs more than the memory. */
const SMALL_BYTES = 2 ** 20;
/** Larger objects go in parts, so that a cut costs a part and not the whole. */
const WHOLE_BYTES_MAX = 64 * 2 ** 20;
const PART_BYTES_MIN = 5 * 2 ** 20;
const PART_BYTES_MAX = 5 * 2 ** 30;
const PARTS_MAX = 10_000;

export type Sendable = Uint8Array | { readonly size: number; readonly bytes: AsyncIterable<Uint8Array> };

/** Headers that an object is sent with. */
export function headersOf({ attributes }: ObjectVersion, marksReplicas: boolean): Record<string, string> {
  const { contentType, headers = {}, metadata = {}, tags, websiteRedirect } = attributes;
  const sent: Record<string, string> = {};
  if (contentType !== undefined) sent['content-type'] = headerOfText(contentType);
  for (const [name, value] of Object.entries(headers)) sent[name] = headerOfText(value);
  for (const [name, value] of Object.entries(metadata)) sent[`x-amz-meta-${name}`] = headerOfText(value);
  if (tags !== undefined) sent['x-amz-tagging'] = new URLSearchParams(tags).toString();
  if (websiteRedirect !== undefined) sent['x-amz-website-redirect-location'] = headerOfText(websiteRedirect);
  if (marksReplicas) sent[REPLICATION_STATUS] = REPLICA;
  return sent;
}

/** A large object of Swift's is what its segments hold: elsewhere its manifest would mean nothing. */
export function sizeOf({ size, attributes }: ObjectVersion): number {
  return attributes.staticManifest?.size ?? size;
}

/** Sizes of the parts it is sent in; undefined when it goes whole. Those it came in are kept, and with them its ETag. */
export function partsOf(version: ObjectVersion): readonly number[] | undefined {
  const size = sizeOf(version);
  const { partSizes, staticManifest } = version.attributes;
  if (partSizes !== undefined && staticManifest === undefined && areGoodParts(partSizes, size)) return partSizes;
  if (size <= WHOLE_BYTES_MAX) return undefined;
  const each = Math.max(WHOLE_BYTES_MAX, Math.ceil(size / PARTS_MAX));
  return Array.from({ length: Math.ceil(size / each) }, (_, index) => Math.min(each, size - index * each));
}

function areGoodParts(sizes: readonly number[], size: number): boolean {
  const sum = sizes.reduce((total, part) => total + part, 0);
  const fit = (part: number, index: number) =>
    part <= PART_BYTES_MAX && (part >= PART_BYTES_MIN || index === sizes.length - 1);
  return sizes.length > 1 && sizes.length <= PARTS_MAX && sum === size && sizes.every(fit);
}

/** Bytes on their way, with the MD5 of what was read of them. */
export class Body {
  readonly #hash: Hash = createHash('md5');
  readonly sendable: Sendable;

  private constructor(bytes: Uint8Array | AsyncIterable<Uint8Array>, size: number) {
    if (bytes instanceof Uint8Array) this.#hash.update(bytes);
    this.sendable = bytes instanceof Uint8Array ? bytes : { size, bytes: this.#read(bytes) };
  }

  static async of(store: ObjectStore, version: ObjectVersion, range: ByteRange): Promise<Body> {
    const size = range.end - range.start;
    if (version.attributes.staticManifest !== undefined)
      return new Body(await openStaticLargeObject(store, version, range), size);
    return new Body(size <= SMALL_BYTES ? await store.readWhole(version, range) : store.read(version, range), size);
  }

  /** Once all was sent. */
  md5(): string {
    return this.#hash.copy().digest('hex');
  }

  async *#read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of bytes) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }
}
