import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { turns } from '../../../testing/turns.ts';
import { ObjectError } from '../errors.ts';
import type { Commit, Conditions, NewContent } from '../operations.ts';
import type { ListedVersion, ObjectVersion, Retention, StagedBlob, WrittenVersion } from '../records.ts';
import { checkIndex } from './check.ts';
import { hasGarbage } from './operations/purge.ts';
import { IndexReader } from './reader.ts';
import { Model, Refusal, type ModelVersion } from './testing/model.ts';
import { listPlainly, type ModelQuery } from './testing/model-listing.ts';
import { IndexWriter } from './writer.ts';

const TORTURE = process.env.GRANARY_TORTURE === '1';
const RUNS = TORTURE ? 300 : 10;
const GROUPS = TORTURE ? 90 : 60;
const DAY_MS = 86_400_000;
const MIB = 2 ** 20;
const ACCOUNTS = ['a'.repeat(32), 'b'.repeat(32)];
const OWNER = 'c'.repeat(32);

const word = fc.constantFrom('a', 'b', '/', '//', 'é', '\u{1f600}', '\ufffd', '\u{10ffff}');
const anyKey = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(''));
/** Often the same few, so that versions pile up. */
const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b/a', '\u{1f600}/') },
  { weight: 2, arbitrary: anyKey },
);
const pick = fc.nat(1000);
const retention = fc.record({
  mode: fc.constantFrom('GOVERNANCE' as const, 'COMPLIANCE' as const),
  days: fc.integer({ min: 0, max: 3 }),
});
const lock = fc.option(retention, { nil: undefined, freq: 3 });
const condition = fc.constantFrom(null, null, null, 'match', 'match-any', 'other', 'none', 'none-any', 'sequence');

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      bucket: pick,
      key,
      blobs: fc.integer({ min: 0, max: 3 }),
      condition,
      lock,
      hold: fc.option(fc.boolean(), { nil: undefined, freq: 5 }),
      expires: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('copy' as const), bucket: pick, key, from: pick }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      bucket: pick,
      key,
      target: pick,
      kind: fc.constantFrom('current', 'version', 'known', 'null'),
      bypass: fc.boolean(),
      condition,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('move' as const), target: pick, policy: fc.nat(1), blobs: pick }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      target: pick,
      byId: fc.boolean(),
      lock: fc.option(fc.option(retention, { nil: null }), { nil: undefined }),
      hold: fc.option(fc.boolean(), { nil: undefined }),
      tag: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
      bypass: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('versioning' as const),
      bucket: pick,
      to: fc.constantFrom('enabled' as const, 'enabled' as const, 'suspended' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('upload' as const), bucket: pick, key }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('part' as const),
      upload: pick,
      number: fc.integer({ min: 1, max: 4 }),
      small: fc.boolean(),
      blobs: fc.integer({ min: 1, max: 2 }),
      copyFrom: fc.option(pick, { nil: null, freq: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      upload: pick,
      fault: fc.constantFrom(null, null, null, 'order', 'etag', 'fewer', 'again'),
      condition,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), upload: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: -1000, max: 2 * DAY_MS }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const query = fc.record({
  prefix: fc.oneof(fc.constant(''), key),
  delimiter: fc.constantFrom(null, '/', '//', 'b', 'é', '/a'),
  after: fc.option(key, { nil: null }),
  before: fc.option(key, { nil: null, freq: 3 }),
  reverse: fc.boolean(),
  limit: fc.integer({ min: 1, max: 6 }),
});

/** Runs steps against the index and against the model, several at a time, and compares what both say. */
class Bench {
  readonly model = new Model();
  readonly writer: IndexWriter;
  readonly reader: IndexReader;
  readonly #known: { bucket: number; key: string; upload: string }[] = [];
  #now = 20_000 * DAY_MS;

  constructor(file: string) {
    this.writer = new IndexWriter(file);
    this.reader = new IndexReader(file);
  }

  get now(): number {
    return this.#now;
  }

  async prepare(): Promise<void> {
    const lockDefault = { mode: 'GOVERNANCE', days: 1 } as const;
    const wanted = [
      { account: 0, policy: 0, lockable: false, versioning: 'off' },
      { account: 0, policy: 1, lockable: false, versioning: 'enabled' },
      { account: 1, policy: 0, lockable: false, versioning: 'suspended' },
      { account: 1, policy: 0, lockable: true, versioning: 'enabled' },
    ] as const;
    for (const { account: number, policy, lockable, versioning } of wanted) {
      const account = ACCOUNTS[number]!;
      const settings = lockable ? { lockDefault } : {};
      const name = `bucket-${this.model.buckets.size}`;
      const { id } = await this.#commit('createBucket', {
        account,
        name,
        policy,
        lockable,
        settings,
        at: this.#now,
      });
      if (versioning !== 'off') await this.#commit('changeBucket', { bucket: id, versioning, at: this.#now });
      const keys = new Map<string, ModelVersion[]>();
      this.model.buckets.set(id, {
        id,
        account,
        policy,
        lockable,
        versioning,
        lockDefault: settings.lockDefault,
        keys,
      });
    }
    // The clock may step back, but not to before the buckets were made: the model counts from their first bytes.
    this.#now += DAY_MS;
  }

  async close(): Promise<void> {
    this.reader.close();
    await this.writer.close();
  }

  /** Starts a step; the promise that is returned checks it. Steps are done in the order they were started. */
  start(one: Step): () => Promise<void> {
    switch (one.do) {
      case 'put':
        return this.#put(one);
      case 'copy':
        return this.#copy(one);
      case 'delete':
        return this.#delete(one);
      case 'change':
        return this.#change(one);
      case 'move':
        return this.#move(one);
      case 'versioning':
        return this.#versioning(one);
      case 'upload':
        return this.#upload(one);
      case 'part':
        return this.#part(one);
      case 'complete':
        return this.#complete(one);
      case 'abort':
        return this.#abort(one);
      case 'wait':
        this.#now += one.ms;
        return () => Promise.resolve();
    }
  }

  #put(one: Step & { do: 'put' }): () => Promise<void> {
    const bucket = this.#bucketAt(one.bucket);
    const sizes = Array.from({ length: one.blobs }, (_, at) => 100 + at * 10);
    const args = {
      bucket,
      key: one.key,
      content: this.#staged(bucket, sizes),
      size: sizes.reduce((sum, size) => sum + size, 0),
      etag: newEtag(),
      owner: OWNER,
      attributes: { contentType: 'text/plain', metadata: { n: one.key } },
      ...(one.lock && { retention: this.#retention(one.lock) }),
      ...(one.hold !== undefined && { legalHold: one.hold }),
      expiresAt: one.expires ? this.#now + 1000 : null,
      ...this.#conditions(one.condition, bucket, one.key),
      at: this.#now,
    };
    const real = this.#commit('putObject', args);
    return () => this.#compare(real, (sequence) => this.model.put(args, sequence), sameVersion);
  }

  #copy(one: Step & { do: 'copy' }): () => Promise<void> {
    const from = this.#versionAt(one.from);
    if (!from) return () => Promise.resolve();
    const { bucket, key: sourceKey, version } = from;
    const args = {
      bucket: this.#bucketAt(one.bucket),
      key: one.key,
      content: { kind: 'copy', of: { bucket, key: sourceKey, sequence: version.sequence } } as const,
      size: version.size,
      etag: newEtag(),
      owner: OWNER,
      attributes: {},
      at: this.#now,
    };
    const real = this.#commit('putObject', args);
    return () => this.#compare(real, (sequence) => this.model.put(args, sequence), sameVersion);
  }

  #delete(one: Step & { do: 'delete' }): () => Promise<void> {
    const known = this.#versionAt(one.target);
    const isKnown = known !== undefined && one.kind !== 'current' && one.kind !== 'null';
    const bucket = isKnown ? known.bucket : this.#bucketAt(one.bucket);
    const where = isKnown ? known.key : one.key;
    const versionId = isKnown ? known.version.versionId : one.kind === 'null' ? 'null' : undefined;
    const args = {
      bucket,
      key: where,
      ...(versionId !== undefined && { versionId }),
      bypassGovernance: one.bypass,
      ...this.#conditions(one.condition, bucket, where),
      at: this.#now,
    };
    const real = this.#commit('deleteObject', args);
    return () =>
      this.#compare(
        real,
        (sequence) => this.model.delete(args, sequence),
        (found, wanted) => {
          assert.equal(found.removed?.versionId, wanted.removed?.versionId);
          assert.equal(found.removed?.isDeleteMarker, wanted.removed?.marker);
          assert.equal(found.marker !== null, wanted.marker);
          if (wanted.marker && versionId === undefined) {
            assert.equal(found.marker?.versionId, this.model.versions(bucket, where)[0]?.versionId);
          }
        },
        (found) => {
          const made = found.marker?.versionId;
          return made === undefined || made === 'null' ? undefined : Number.parseInt(made, 16);
        },
      );
  }

  #change(one: Step & { do: 'change' }): () => Promise<void> {
    const known = this.#versionAt(one.target);
    if (!known) return () => Promise.resolve();
    const args = {
      bucket: known.bucket,
      key: known.key,
      ...(one.byId && { versionId: known.version.versionId }),
      ...(one.tag !== undefined && { attributes: { tags: { tag: one.tag } } }),
      ...(one.lock !== undefined && { retention: one.lock && this.#retention(one.lock) }),
      ...(one.hold !== undefined && { legalHold: one.hold }),
      bypassGovernance: one.bypass,
      at: this.#now,
    };
    const real = this.#commit('changeVersion', args);
    return () => this.#compare(real, () => this.model.change(args), sameVersion);
  }

  #move({ target, policy, blobs }: Step & { do: 'move' }): () => Promise<void> {
    const known = this.#versionAt(target);
    const seen = known && this.reader.versionAt(known.bucket, known.key, known.version.sequence);
    if (!known || !seen) return () => Promise.resolve();
    const { bucket, key: where, version } = known;
    // Cut as the other policy would have it.
    const first = blobs % 2 === 0 ? version.size : Math.ceil(version.size / 3);
    const sizes = [first, version.size - first].filter((size) => size > 0);
    const args = {
      bucket,
      key: where,
      sequence: version.sequence,
      seen: seen.content,
      policy,
      content: this.#stagedUnder(policy, sizes),
      at: this.#now,
    };
    const had = version.blobs;
    const real = this.#commit('moveVersion', args);
    return () =>
      this.#compare(
        real,
        () => this.model.move(args, had),
        (found) => assert.equal(found, null),
      );
  }

  #versioning({ bucket: at, to }: Step & { do: 'versioning' }): () => Promise<void> {
    const bucket = this.#bucketAt(at);
    const real = this.#commit('changeBucket', { bucket, versioning: to, at: this.#now });
    return () =>
      this.#compare(
        real,
        () => this.model.setVersioning(bucket, to),
        (found) => assert.equal(found.versioning, to),
      );
  }

  #upload({ bucket: at, key: where }: Step & { do: 'upload' }): () => Promise<void> {
    const bucket = this.#bucketAt(at);
    const real = this.#commit('createUpload', {
      bucket,
      key: where,
      owner: OWNER,
      attributes: {},
      retention: null,
      legalHold: false,
      checksumAlgorithm: null,
      checksumType: null,
      at: this.#now,
    });
    return async () => {
      const { id } = await real;
      this.model.uploads.set(id, { id, bucket, key: where, parts: new Map() });
      this.#known.push({ bucket, key: where, upload: id });
    };
  }

  #part(one: Step & { do: 'part' }): () => Promise<void> {
    const upload = this.#uploadAt(one.upload);
    if (!upload) return () => Promise.resolve();
    const source = one.copyFrom === null ? undefined : this.#versionAt(one.copyFrom);
    const sizes = Array.from({ length: one.blobs }, () => (one.small ? 10 : 5 * MIB));
    const content: NewContent = source
      ? { kind: 'copy', of: { bucket: source.bucket, key: source.key, sequence: source.version.sequence } }
      : this.#staged(upload.bucket, sizes);
    const size = source?.version.size ?? sizes.reduce((sum, each) => sum + each, 0);
    const args = { ...upload, number: one.number, content, size, etag: newEtag(), checksum: null, at: this.#now };
    const real = this.#commit('putPart', args);
    return () =>
      this.#compare(
        real,
        () => this.model.putPart(args),
        (found) => assert.equal(found.etag, args.etag),
      );
  }

  #complete(one: Step & { do: 'complete' }): () => Promise<void> {
    const upload = this.#uploadAt(one.upload);
    if (!upload) return () => Promise.resolve();
    const all = [...(this.model.uploads.get(upload.upload)?.parts ?? [])].sort(([a], [b]) => a - b);
    let parts = all.map(([number, { etag }]) => ({ number, etag }));
    if (one.fault === 'order') parts.reverse();
    if (one.fault === 'etag') parts = parts.map((part) => ({ ...part, etag: newEtag() }));
    if (one.fault === 'fewer') parts = parts.slice(0, 1);
    const args = {
      ...upload,
      parts,
      checksum: null,
      ...this.#conditions(one.condition, upload.bucket, upload.key),
      at: this.#now,
    };
    const real = this.#commit('completeUpload', args);
    const again = one.fault === 'again' ? this.#commit('completeUpload', args) : undefined;
    return async () => {
      await this.#compare(real, (sequence) => this.model.complete(args, sequence), sameVersion);
      if (again) await this.#compare(again, (sequence) => this.model.complete(args, sequence), sameVersion);
    };
  }

  #abort(one: Step & { do: 'abort' }): () => Promise<void> {
    const upload = this.#uploadAt(one.upload);
    if (!upload) return () => Promise.resolve();
    const args = { ...upload, at: this.#now };
    const real = this.#commit('abortUpload', args);
    return () =>
      this.#compare(
        real,
        () => this.model.abort(args),
        (found) => assert.equal(found, null),
      );
  }

  /** A refusal is looked at later, when it is its turn. */
  readonly #commit: Commit = (operation, args) => {
    const result = this.writer.commit(operation, args);
    result.catch(() => undefined);
    return result;
  };

  /** Sequences are the index's to give: the model takes them over, and the order of versions shows whether they grow. */
  async #compare<R, M>(
    real: Promise<R>,
    model: (sequence: () => number) => M,
    same: (real: R, model: M) => void,
    sequenceIn: (real: R) => number | undefined = (result) => (result as { sequence?: number }).sequence,
  ): Promise<void> {
    let result: R | undefined;
    let code: string | undefined;
    try {
      result = await real;
    } catch (error) {
      assert.ok(error instanceof ObjectError, String(error));
      ({ code } = error);
    }
    let expected: M;
    try {
      expected = model(() => sequenceIn(result as R) ?? -1);
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
      assert.equal(code, error.code);
      return;
    }
    assert.equal(code, undefined, 'the model allows it');
    same(result as R, expected);
  }

  #conditions(
    kind: typeof condition extends fc.Arbitrary<infer K> ? K : never,
    bucket: number,
    where: string,
  ): { conditions?: Conditions } {
    const current = this.model.current(bucket, where);
    const etag = current?.etag ?? newEtag();
    if (kind === 'match') return { conditions: { ifMatch: etag } };
    if (kind === 'match-any') return { conditions: { ifMatch: '*' } };
    if (kind === 'other') return { conditions: { ifMatch: newEtag() } };
    if (kind === 'none') return { conditions: { ifNoneMatch: etag } };
    if (kind === 'none-any') return { conditions: { ifNoneMatch: '*' } };
    if (kind === 'sequence' && current && current.sequence > 0) return { conditions: { ifSequence: current.sequence } };
    return {};
  }

  #retention({ mode, days }: { mode: Retention['mode']; days: number }): Retention {
    return { mode, until: this.#now + days * DAY_MS };
  }

  #staged(bucket: number, sizes: readonly number[]): NewContent {
    return this.#stagedUnder(this.model.bucket(bucket).policy, sizes);
  }

  #stagedUnder(policy: number, sizes: readonly number[]): NewContent {
    if (sizes.length === 0) return { kind: 'empty' };
    return { kind: 'staged', blobs: sizes.map((size) => stagedBlob(policy, size)) };
  }

  #bucketAt(at: number): number {
    const ids = [...this.model.buckets.keys()];
    return ids[at % ids.length]!;
  }

  #uploadAt(at: number): { bucket: number; key: string; upload: string } | undefined {
    return this.#known[at % this.#known.length];
  }

  /** A version that can be named: markers without an id have no sequence the model knows. */
  #versionAt(at: number): { bucket: number; key: string; version: ModelVersion } | undefined {
    const all = [...this.model.buckets.values()].flatMap(({ id, keys }) =>
      [...keys].flatMap(([where, versions]) => versions.map((version) => ({ bucket: id, key: where, version }))),
    );
    return all[at % all.length];
  }

  /** Everything the index shows is what the model has. */
  verify(queries: readonly ModelQuery[]): void {
    for (const bucket of this.model.buckets.values()) {
      for (const [where, versions] of bucket.keys) this.#verifyKey(bucket.id, where, versions);
      for (const one of queries) this.#verifyListings(bucket.id, one);
      const versions = [...bucket.keys.values()].flat().filter(({ marker }) => !marker);
      const shown = this.reader.bucketById(bucket.id);
      assert.equal(shown?.objects, versions.length);
      assert.equal(
        shown.bytes,
        versions.reduce((sum, { size }) => sum + size, 0),
      );
    }
    this.#verifyStored();
    assert.deepEqual(checkIndex(this.reader.db), []);
  }

  #verifyKey(bucket: number, where: string, versions: readonly ModelVersion[]): void {
    const [newest] = versions;
    sameContent(this.reader, this.reader.latest(bucket, where), newest);
    assert.equal(this.reader.version(bucket, where)?.sequence, newest?.marker ? undefined : newest?.sequence);
    for (const version of versions) {
      const found = this.reader.version(bucket, where, version.versionId);
      assert.equal(found?.isLatest, version === newest);
      sameContent(this.reader, found, version);
    }
  }

  #verifyListings(bucket: number, one: ModelQuery): void {
    const { keys } = this.model.bucket(bucket);
    const current = new Map([...keys].filter(([, [newest]]) => !newest?.marker));
    const expected = listPlainly(current, one).map(({ name }) => name);
    const found = this.reader.list(bucket, one);
    assert.deepEqual(sorted(found.objects, found.prefixes, one.reverse), expected.slice(0, one.limit));
    assert.equal(found.next, expected.length > one.limit ? expected[one.limit - 1] : null);
    assert.deepEqual(this.#allPages(bucket, one), expected);
    this.#verifyVersions(bucket, { ...one, before: null, reverse: false });
    this.#verifyUploads(bucket, { ...one, before: null, reverse: false });
  }

  #allPages(bucket: number, one: ModelQuery): string[] {
    const names: string[] = [];
    for (let after = one.after; ;) {
      const page = this.reader.list(bucket, { ...one, after });
      names.push(...sorted(page.objects, page.prefixes, one.reverse));
      if (page.next === null) return names;
      after = page.next;
    }
  }

  #verifyVersions(bucket: number, one: ModelQuery): void {
    const { prefix, delimiter, limit } = one;
    const expected = listPlainly(this.model.bucket(bucket).keys, one);
    const versions: ListedVersion[] = [];
    const prefixes: string[] = [];
    for (
      let after: { key: string; versionId: string | null } | null =
        one.after === null ? null : { key: one.after, versionId: null };
      ;
    ) {
      const page = this.reader.listVersions(bucket, { prefix, delimiter, after, limit });
      assert.ok(page.versions.length + page.prefixes.length <= limit);
      versions.push(...page.versions);
      prefixes.push(...page.prefixes);
      if (page.next === null) break;
      after = page.next;
    }
    assert.deepEqual(
      prefixes,
      expected.filter(({ items }) => items.length === 0).map(({ name }) => name),
    );
    const wanted = expected.flatMap(({ name, items }) =>
      items.map(({ versionId }, at) => ({ key: name, versionId, isLatest: at === 0 })),
    );
    assert.deepEqual(
      versions.map(({ key: where, versionId, isLatest }) => ({ key: where, versionId, isLatest })),
      wanted,
    );
  }

  #verifyUploads(bucket: number, one: ModelQuery): void {
    const { prefix, delimiter, limit } = one;
    const open = [...this.model.uploads.values()].filter((upload) => upload.bucket === bucket);
    const expected = listPlainly(
      Map.groupBy(open, (upload) => upload.key),
      one,
    );
    const ids: string[] = [];
    for (
      let after: { key: string; id: string | null } | null = one.after === null ? null : { key: one.after, id: null };
      ;
    ) {
      const page = this.reader.uploads(bucket, { prefix, delimiter, after, limit });
      ids.push(...page.uploads.map(({ id }) => id));
      if (page.next === null) break;
      after = page.next;
    }
    assert.deepEqual(
      ids,
      expected.flatMap(({ items }) => items.map(({ id }) => id).sort()),
    );
  }

  #verifyStored(): void {
    const first = 20_000;
    const today = Math.floor(this.#now / DAY_MS);
    for (const [from, to] of [
      [first, today],
      [first + 1, today - 1],
      [first + 3, first + 4],
    ]) {
      if (to! <= from!) continue;
      this.#verifyArea(from! * DAY_MS, to! * DAY_MS);
    }
    this.#verifyArea(today * DAY_MS, this.#now + 10_000);
    this.#verifyArea(first * DAY_MS, this.#now + DAY_MS);
  }

  #verifyArea(from: number, to: number): void {
    for (const { account, policy, byteMilliseconds } of this.reader.storedOver(null, from, to)) {
      assert.equal(byteMilliseconds, this.model.area(`${account}/${policy}`, from, to), `stored from ${from} to ${to}`);
    }
  }

  /** Unreferenced blobs are gone, all others are there. */
  async verifyBlobs(): Promise<void> {
    while (hasGarbage(this.reader.db)) await turns(3);
    const rows = this.reader.db.all<{ id: string }>('SELECT lower(hex(id)) AS id FROM blobs');
    assert.deepEqual(rows.map(({ id }) => id).sort(), [...this.model.blobs()].sort());
  }
}

function stagedBlob(policy: number, size: number): StagedBlob {
  const id = randomBytes(16);
  const places = [1, 2].map((drive) => ({ drive, segment: 1 + (id[1]! % 3), offset: 4096 * id[2]! + 2 ** 40 }));
  return { partition: policy * 2 ** 16 + (id[0]! % 8), id, size, key: 0, places, pieceBytes: size + 64 };
}

function newEtag(): string {
  return createHash('md5').update(randomBytes(8)).digest('hex');
}

function sameVersion(found: WrittenVersion, wanted: ModelVersion): void {
  const { sequence, versionId, size, etag, attributes, retention: kept, legalHold, expiresAt, modifiedAt } = wanted;
  const shown = {
    // Delete markers without an id do not say which sequence they were given.
    sequence: sequence < 0 ? sequence : found.sequence,
    versionId: found.versionId,
    size: found.size,
    etag: found.etag,
    attributes: found.attributes,
    kept: found.retention,
    legalHold: found.legalHold,
    expiresAt: found.expiresAt,
    modifiedAt: found.modifiedAt,
  };
  assert.deepEqual(shown, { sequence, versionId, size, etag, attributes, kept, legalHold, expiresAt, modifiedAt });
  assert.equal(found.isDeleteMarker, wanted.marker);
}

function sameContent(reader: IndexReader, found: ObjectVersion | undefined, wanted: ModelVersion | undefined): void {
  assert.ok(found && wanted);
  sameVersion(found, wanted);
  const { content } = found;
  let ids: Uint8Array[] = [];
  if (content.kind === 'blob') ids = [content.blob.id];
  if (content.kind === 'manifest') ids = reader.manifest(content.manifest, 0, 1000).map(({ id }) => id);
  assert.deepEqual(
    ids.map((id) => Buffer.from(id).toString('hex')),
    wanted.blobs,
  );
}

function sorted(objects: readonly { readonly key: string }[], prefixes: readonly string[], reverse: boolean): string[] {
  const names = [...objects.map(({ key: where }) => where), ...prefixes];
  names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return reverse ? names.reverse() : names;
}

test('random changes and listings equal a plain model', { timeout: TORTURE ? 3_600_000 : 60_000 }, async () => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  console.log(`seed ${seed}`);
  const groups = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: GROUPS / 2, maxLength: GROUPS });
  const property = fc.asyncProperty(groups, fc.array(query, { minLength: 4, maxLength: 8 }), async (all, queries) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'granary-index-'));
    const bench = new Bench(path.join(folder, 'index.db'));
    try {
      await bench.prepare();
      for (const [at, group] of all.entries()) {
        const checks = group.map((one) => bench.start(one));
        for (const check of checks) await check();
        if (at % 8 === 7) bench.verify(queries);
      }
      bench.verify(queries);
      await bench.verifyBlobs();
    } finally {
      await bench.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  await fc.assert(property, { numRuns: RUNS, seed, endOnFailure: !TORTURE });
});
