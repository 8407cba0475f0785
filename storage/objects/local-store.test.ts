import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { ObjectError } from './errors.ts';
import { AT, IndexFixture, stagedBlob } from './index/testing/fixture.ts';
import type { Layout } from './layout/layout.ts';
import { LocalObjectStore, type LocalStoreOptions } from './local-store.ts';
import type { ByteRange } from './object-store.ts';
import type { BlobRecord, ObjectVersion, StagedBlob } from './records.ts';
import { stagingCommit } from './staging-commit.ts';

const policy = { index: 0, name: 'p', copies: 2, dataFragments: 0, parityFragments: 0 };
const ring = { policy, version: 1, partitions: 8, slots: 2, drives: new Uint32Array(16) };
const layout: Layout = {
  version: 1,
  drives: [],
  rings: [ring],
  defaultPolicy: 0,
  encryption: { writeKey: 0, keys: [] },
};

/** Blobs in memory, a few bytes each. */
class MemoryBlobs {
  readonly #bytes = new Map<string, Uint8Array>();

  enter(bytes: Uint8Array): StagedBlob {
    const blob = stagedBlob(bytes.length);
    this.#bytes.set(Buffer.from(blob.id).toString('hex'), bytes);
    return blob;
  }

  async readWhole(record: BlobRecord, _policy: unknown, range?: ByteRange): Promise<Uint8Array> {
    const bytes = this.#bytes.get(Buffer.from(record.id).toString('hex'));
    assert.ok(bytes);
    return bytes.subarray(range?.start, range?.end);
  }

  async *read(record: BlobRecord, _policy: unknown, range?: ByteRange): AsyncGenerator<Uint8Array> {
    yield await this.readWhole(record, _policy, range);
  }
}

function storeOver(index: IndexFixture, blobs: MemoryBlobs): LocalObjectStore {
  const { commit, reader } = index.writer;
  const writer: LocalStoreOptions['writer'] = { stage: () => Promise.reject(new Error('not written here')) };
  return new LocalObjectStore({ layout: () => layout, commit, reader, writer, blobs });
}

async function putInPieces(index: IndexFixture, blobs: MemoryBlobs, sizes: readonly number[]) {
  const bytes = randomBytes(sizes.reduce((sum, size) => sum + size, 0));
  let start = 0;
  const staged = sizes.map((size) => blobs.enter(bytes.subarray(start, (start += size))));
  const bucket = index.writer.reader.bucket('a'.repeat(32), 'bucket') ?? (await index.bucket());
  const content = { kind: 'staged', blobs: staged } as const;
  await index.put(bucket, 'key', { content, size: bytes.length });
  return { bytes, version: index.writer.reader.version(bucket.id, 'key')! };
}

async function collect(store: LocalObjectStore, version: ObjectVersion, range?: ByteRange): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.read(version, range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('any range of an object of many blobs is what was put', async () => {
  await using index = new IndexFixture();
  const blobs = new MemoryBlobs();
  const store = storeOver(index, blobs);
  for (const count of [0, 1, 2, 300]) {
    const sizes = Array.from({ length: count }, (_, at) => 1 + (at % 7));
    const { bytes, version } = await putInPieces(index, blobs, sizes);
    assert.deepEqual(await collect(store, version), bytes);
    const edge = fc.nat(bytes.length);
    await fc.assert(
      fc.asyncProperty(edge, edge, async (one, other) => {
        const range = { start: Math.min(one, other), end: Math.max(one, other) };
        const expected = bytes.subarray(range.start, range.end);
        assert.deepEqual(await collect(store, version, range), expected);
        assert.deepEqual(Buffer.from(await store.readWhole(version, range)), expected);
      }),
      { numRuns: 50 },
    );
  }
});

test('a version that went before it was read is not there', async () => {
  await using index = new IndexFixture();
  const blobs = new MemoryBlobs();
  const store = storeOver(index, blobs);
  const { version } = await putInPieces(index, blobs, [10]);
  await store.commit('deleteObject', { bucket: version.bucket, key: 'key', at: AT });
  await assert.rejects(
    collect(store, version),
    (error) => error instanceof ObjectError && error.code === 'no-such-version',
  );
});

test('small bodies come along with the commit, which puts them on drives first', async () => {
  await using index = new IndexFixture();
  const blobs = new MemoryBlobs();
  const { commit, reader } = index.writer;
  const stage = (_policy: number, bytes: Uint8Array) => Promise.resolve([blobs.enter(bytes)]);
  const writer: LocalStoreOptions['writer'] = { stage: (policy, body) => stage(policy, body as Uint8Array) };
  const options = { layout: () => layout, reader, writer, blobs, alongBytesMax: 5 };
  const store = new LocalObjectStore({ ...options, commit: stagingCommit(index.writer, stage) });
  const bucket = await index.bucket();
  const large = Buffer.from('a network chunk');
  const bytes = large.subarray(2, 7);
  const content = await store.stage(0, bytes);
  large.fill(0);
  assert.deepEqual(content, { kind: 'bytes', policy: 0, bytes: new Uint8Array(Buffer.from('netwo')) });
  assert.equal(content.kind === 'bytes' && content.bytes.buffer.byteLength, 5, 'nothing else crosses with them');
  const put = { bucket: bucket.id, size: 5, etag: '0', owner: '', attributes: {}, at: AT };
  await store.commit('putObject', { ...put, key: 'along', content });
  const version = reader.version(bucket.id, 'along');
  assert.equal((await collect(store, version!)).toString(), 'netwo');
  await assert.rejects(commit('putObject', { ...put, key: 'unstaged', content }), { code: 'invalid-state' });
  assert.equal((await store.stage(0, Buffer.alloc(6))).kind, 'staged', 'larger ones are staged at once');
});

test('a commit whose bytes no drive takes changes nothing', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const full = new ObjectError('no-space', 'The drives are full.');
  const commit = stagingCommit(index.writer, () => Promise.reject(full));
  const content = { kind: 'bytes', policy: 0, bytes: new Uint8Array(5) } as const;
  const put = { bucket: bucket.id, key: 'key', size: 5, etag: '0', owner: '', attributes: {}, at: AT };
  await assert.rejects(commit('putObject', { ...put, content }), full);
  assert.equal(index.writer.reader.version(bucket.id, 'key'), undefined);
});

test('an object is encrypted only when every blob of it is', async () => {
  await using index = new IndexFixture();
  const store = storeOver(index, new MemoryBlobs());
  const bucket = await index.bucket();
  for (const [keys, expected] of [
    [[], false],
    [[1], true],
    [[0], false],
    [[1, 2], true],
    [[1, 0], false],
    [[...Array<number>(300).fill(1), 0], false],
    [Array<number>(301).fill(1), true],
  ] as const) {
    const blobs = keys.map((key) => ({ ...stagedBlob(10), key }));
    const content = blobs.length === 0 ? ({ kind: 'empty' } as const) : ({ kind: 'staged', blobs } as const);
    await index.put(bucket, 'key', { content, size: 10 * blobs.length });
    assert.equal(store.isEncrypted(index.writer.reader.version(bucket.id, 'key')!), expected, String(keys));
  }
});
