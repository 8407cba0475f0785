import {
  type Bucket,
  type NewContent,
  ObjectError,
  type ObjectStore,
  type ObjectVersion,
  type Operations,
} from '@granary/storage/object-store';

type Args<O extends keyof Operations> = Operations[O]['args'];

/** Just enough of a store to see what the wire makes of requests: buckets and unversioned objects, in memory. */
export class MemoryStore {
  readonly buckets: Bucket[] = [];
  readonly objects = new Map<string, { readonly version: ObjectVersion; readonly bytes: Buffer }>();
  /** Thrown by the next commit. */
  failWith: Error | undefined;
  #sequence = 0;

  asStore(): ObjectStore {
    return {
      policies: [{ index: 0, name: 'one', copies: 1, dataFragments: 0, parityFragments: 0 }],
      defaultPolicy: 0,
      isEncrypting: false,
      canEncrypt: false,
      isEncrypted: () => false,
      commit: (operation: string, args: unknown) => this.#commit(operation, args),
      bucket: (account: string, name: string) =>
        this.buckets.find((each) => each.account === account && each.name === name),
      bucketById: (id: number) => this.buckets.find((each) => each.id === id),
      bucketsNamed: (name: string) => this.buckets.filter((each) => each.name === name),
      version: (bucket: number, key: string) => this.objects.get(`${bucket}/${key}`)?.version,
      latest: (bucket: number, key: string) => this.objects.get(`${bucket}/${key}`)?.version,
      list: () => ({ objects: [], prefixes: [], next: null }),
      stage: (_policy: number, body: Uint8Array | AsyncIterable<Uint8Array>) => this.#stage(body),
      read: (version: ObjectVersion, range?: { start: number; end: number }) => this.#read(version, range),
      readWhole: async (version: ObjectVersion, range?: { start: number; end: number }) =>
        this.#bytes(version).subarray(range?.start, range?.end),
    } as unknown as ObjectStore;
  }

  addBucket(bucket: Pick<Bucket, 'account' | 'name'> & Partial<Bucket>): Bucket {
    const added: Bucket = {
      id: this.buckets.length + 1,
      policy: 0,
      createdAt: 0,
      versioning: 'off',
      lockable: false,
      settings: {},
      objects: 0,
      bytes: 0,
      noncurrent: 0,
      ...bucket,
    };
    this.buckets.push(added);
    return added;
  }

  bytesOf(bucket: Bucket, key: string): Buffer | undefined {
    return this.objects.get(`${bucket.id}/${key}`)?.bytes;
  }

  async #stage(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<NewContent> {
    const pieces: Uint8Array[] = [];
    if (body instanceof Uint8Array) pieces.push(Buffer.from(body));
    else for await (const piece of body) pieces.push(Buffer.from(piece));
    return { kind: 'bytes', policy: 0, bytes: Buffer.concat(pieces) };
  }

  async #commit(operation: string, args: unknown): Promise<unknown> {
    if (this.failWith) throw this.failWith;
    if (operation === 'createBucket') {
      const { account, name, policy, settings } = args as Args<'createBucket'>;
      return this.addBucket({ account, name, policy, settings });
    }
    if (operation === 'putObject') return this.#put(args as Args<'putObject'>);
    throw new ObjectError('invalid-state', `${operation} is not part of this store`);
  }

  #put(args: Args<'putObject'>): ObjectVersion {
    const bytes = args.content.kind === 'bytes' ? Buffer.from(args.content.bytes) : Buffer.alloc(0);
    const version: ObjectVersion = {
      bucket: args.bucket,
      key: args.key,
      sequence: ++this.#sequence,
      versionId: 'null',
      isLatest: true,
      isDeleteMarker: false,
      size: args.size,
      etag: args.etag,
      modifiedAt: args.at,
      expiresAt: null,
      owner: args.owner,
      attributes: args.attributes,
      retention: null,
      legalHold: false,
      content: { kind: 'empty' },
    };
    this.objects.set(`${args.bucket}/${args.key}`, { version, bytes });
    return version;
  }

  #bytes(version: ObjectVersion): Buffer {
    return this.objects.get(`${version.bucket}/${version.key}`)?.bytes ?? Buffer.alloc(0);
  }

  async *#read(version: ObjectVersion, range?: { start: number; end: number }): AsyncGenerator<Uint8Array> {
    const bytes = this.#bytes(version).subarray(range?.start, range?.end);
    for (let at = 0; at < bytes.length; at += 65536) yield bytes.subarray(at, at + 65536);
  }
}
