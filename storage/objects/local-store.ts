import type { BlobWriter } from './blobs/blob-writer.ts';
import { policyOfPartition } from './blobs/pieces.ts';
import { ObjectError } from './errors.ts';
import type { IndexReader, ManifestBlob } from './index/reader.ts';
import type { Layout } from './layout/layout.ts';
import type { ByteRange, Listing, ListQuery, ObjectStore, StageOptions, VersionListing } from './object-store.ts';
import type { Commit, NewContent } from './operations.ts';
import type {
  AccountUsage,
  BlobRecord,
  BlobRef,
  Bucket,
  ObjectVersion,
  Part,
  PolicyLayout,
  Upload,
} from './records.ts';

export interface LocalStoreOptions {
  readonly layout: () => Layout;
  readonly commit: Commit;
  readonly reader: IndexReader;
  readonly writer: Pick<BlobWriter, 'stage'>;
  /** Whole bodies of at most this size are sent with the commit, which has to be a `stagingCommit`. */
  readonly alongBytesMax?: number;
  /** `BlobReader` is one. */
  readonly blobs: {
    read(record: BlobRecord, policy: PolicyLayout, range?: ByteRange): AsyncIterable<Uint8Array>;
    readWhole(record: BlobRecord, policy: PolicyLayout, range?: ByteRange): Promise<Uint8Array>;
  };
}

/** A blob, or a range of it, that is part of what is to be read. */
interface Stretch {
  readonly record: BlobRecord;
  readonly policy: PolicyLayout;
  readonly range: ByteRange;
}

/** Blobs of a large object that are looked up at a time. */
const LOOKED_UP = 128;

/** The object store as one thread of the array sees it: its own reader of the index, its own hands on the drives. */
export class LocalObjectStore implements ObjectStore {
  readonly commit: Commit;
  readonly #options: LocalStoreOptions;
  readonly #index: IndexReader;

  constructor(options: LocalStoreOptions) {
    this.#options = options;
    this.#index = options.reader;
    this.commit = options.commit;
  }

  get policies(): readonly PolicyLayout[] {
    return this.#options.layout().rings.map(({ policy }) => policy);
  }

  get defaultPolicy(): number | null {
    return this.#options.layout().defaultPolicy;
  }

  get canEncrypt(): boolean {
    return this.isEncrypting || this.#options.layout().encryption.serviceKey !== undefined;
  }

  get isEncrypting(): boolean {
    return this.#options.layout().encryption.writeKey !== 0;
  }

  bucket(account: string, name: string): Bucket | undefined {
    return this.#index.bucket(account, name);
  }

  bucketById(id: number): Bucket | undefined {
    return this.#index.bucketById(id);
  }

  bucketsNamed(name: string): Bucket[] {
    return this.#index.bucketsNamed(name);
  }

  buckets(account: string, page: Parameters<ObjectStore['buckets']>[1]): Bucket[] {
    return this.#index.buckets(account, page);
  }

  usage(account: string): AccountUsage {
    return this.#index.usage(account);
  }

  version(bucket: number, key: string, versionId?: string): ObjectVersion | undefined {
    return this.#index.version(bucket, key, versionId);
  }

  latest(bucket: number, key: string): ObjectVersion | undefined {
    return this.#index.latest(bucket, key);
  }

  list(bucket: number, query: ListQuery): Listing {
    return this.#index.list(bucket, query);
  }

  listVersions(bucket: number, query: Parameters<ObjectStore['listVersions']>[1]): VersionListing {
    return this.#index.listVersions(bucket, query);
  }

  upload(id: string): Upload | undefined {
    return this.#index.upload(id);
  }

  uploads(bucket: number, query: Parameters<ObjectStore['uploads']>[1]): ReturnType<ObjectStore['uploads']> {
    return this.#index.uploads(bucket, query);
  }

  parts(upload: string, page: { readonly after: number; readonly limit: number }): Part[] {
    return this.#index.parts(upload, page);
  }

  async stage(
    policy: number,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    size?: number,
    options: StageOptions = {},
  ): Promise<NewContent> {
    const { writer, alongBytesMax = 0 } = this.#options;
    if (body instanceof Uint8Array && body.length > 0 && body.length <= alongBytesMax) {
      if (body.length === (size ?? body.length)) return { kind: 'bytes', policy, bytes: alone(body), ...options };
    }
    const blobs = await writer.stage(policy, body, size, options);
    return blobs.length === 0 ? { kind: 'empty' } : { kind: 'staged', blobs };
  }

  isEncrypted(version: ObjectVersion): boolean {
    let start = 0;
    while (start < version.size) {
      const stretches = this.#stretches(version, { start, end: version.size });
      if (stretches.length === 0 || stretches.some(({ record }) => record.key === 0)) return false;
      for (const { range } of stretches) start += range.end - range.start;
    }
    return start > 0;
  }

  read(version: ObjectVersion, range?: ByteRange): AsyncIterable<Uint8Array> {
    refuseSealed(version);
    const { blobs } = this.#options;
    const wanted = within(version, range);
    const stretches = this.#stretches(version, wanted);
    const [only] = stretches;
    if (only && version.content.kind === 'blob') return blobs.read(only.record, only.policy, only.range);
    return this.#readOn(version, wanted, stretches);
  }

  async readWhole(version: ObjectVersion, range?: ByteRange): Promise<Uint8Array> {
    refuseSealed(version);
    const { blobs } = this.#options;
    const wanted = within(version, range);
    const stretches = this.#stretches(version, wanted);
    const [only] = stretches;
    if (!only) return new Uint8Array(0);
    const found = only.range.end - only.range.start;
    if (found === wanted.end - wanted.start) return blobs.readWhole(only.record, only.policy, only.range);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#readOn(version, wanted, stretches)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** What was looked up already, then the rest: an object deleted meanwhile can still be read as far as it was looked up. */
  async *#readOn(
    version: ObjectVersion,
    wanted: ByteRange,
    first: readonly Stretch[],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    let { start } = wanted;
    let stretches = first;
    while (stretches.length > 0) {
      for (const { record, policy, range } of stretches) {
        yield* this.#options.blobs.read(record, policy, range);
        start += range.end - range.start;
      }
      stretches = this.#rest(version, { start, end: wanted.end });
    }
  }

  /** A version that was moved to another policy meanwhile goes on there: its bytes are the same. */
  #rest(version: ObjectVersion, range: ByteRange): Stretch[] {
    try {
      return this.#stretches(version, range);
    } catch (error) {
      const now = this.#index.versionAt(version.bucket, version.key, version.sequence);
      if (!now || now.isDeleteMarker) throw error;
      return this.#stretches(now, range);
    }
  }

  /** The first blobs of a range. */
  #stretches({ content, size }: ObjectVersion, { start, end }: ByteRange): Stretch[] {
    if (start >= end || content.kind === 'empty') return [];
    if (content.kind === 'blob') return [this.#stretch({ ...content.blob, size, start: 0 }, start, end)];
    const parts = this.#index.manifest(content.manifest, start, LOOKED_UP).filter((part) => part.start < end);
    if (parts.length === 0) throw gone();
    return parts.map((part) => this.#stretch(part, start, end));
  }

  #stretch(part: ManifestBlob, start: number, end: number): Stretch {
    const record = this.#index.blob(part.partition, part.id);
    if (!record) throw gone();
    const range = { start: Math.max(start - part.start, 0), end: Math.min(end - part.start, part.size) };
    return { record, policy: this.#policyOf(part), range };
  }

  #policyOf({ partition }: BlobRef): PolicyLayout {
    const index = policyOfPartition(partition);
    const ring = this.#options.layout().rings.find(({ policy }) => policy.index === index);
    if (!ring) throw new ObjectError('no-such-policy', `The array has no storage policy ${index}.`);
    return ring.policy;
  }
}

function within({ size }: ObjectVersion, range: ByteRange | undefined): ByteRange {
  if (!range) return { start: 0, end: size };
  return { start: Math.min(range.start, size), end: Math.min(range.end, size) };
}

/** Its bytes would be taken for what was put. */
function refuseSealed({ attributes }: ObjectVersion): void {
  if (attributes.customerKey === undefined) return;
  throw new ObjectError('sealed', 'The object is encrypted with a key of its client, and cannot be read without it.');
}

function gone(): ObjectError {
  return new ObjectError('no-such-version', 'The version was deleted while it was to be read.');
}

/** What crosses to another thread takes all of the memory along that it is a part of, and is gone here afterwards. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
