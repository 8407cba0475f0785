import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog, EventLog, ManualClock, Store } from '@granary/kernel';
import { IndexWriter, type Arguments, type Bucket, type LifecycleRule } from '@granary/storage/objects';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import { ExpiryService } from './service.ts';

const DAY = 86_400_000;
const rule: LifecycleRule = { id: 'r', enabled: true, prefix: '' };

/** A real index, and a clock that stands at noon until it is moved. */
function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const clock = new ManualClock('2026-03-01T12:00:00Z');
  const index = new IndexWriter(join(folder, 'index.db'));
  const store = new Store(join(folder, 'objects.db'), migrations);
  const events = new EventLog(clock);
  const log = createLog('test', 'silent');
  const { commit, reader } = index;
  const newWorker = () => new ExpiryService({ store, events, clock, log, commit, engine: { catalogue: reader } });
  t.after(async () => {
    await index.close();
    store.close();
  });
  return {
    clock,
    commit,
    reader,
    newWorker,
    worker: newWorker(),
    bucket: (name: string, lifecycle: readonly LifecycleRule[], more: Partial<Arguments<'createBucket'>> = {}) =>
      commit('createBucket', {
        account: 'a'.repeat(32),
        name,
        policy: 0,
        lockable: false,
        settings: { lifecycle },
        at: clock.now(),
        ...more,
      }),
    put: ({ id: bucket }: Bucket, key: string, more: Partial<Arguments<'putObject'>> = {}) =>
      commit('putObject', {
        bucket,
        key,
        content: { kind: 'empty' },
        size: 0,
        etag: '0'.repeat(32),
        owner: 'b'.repeat(32),
        attributes: {},
        at: clock.now(),
        ...more,
      }),
    remove: ({ id: bucket }: Bucket, key: string) => commit('deleteObject', { bucket, key, at: clock.now() }),
    keys: ({ id }: Bucket) =>
      reader.list(id, { prefix: '', delimiter: null, after: null, limit: 5000 }).objects.map(({ key }) => key),
    /** `key`, and `key-` for delete markers, newest first. */
    entries: ({ id }: Bucket) =>
      reader
        .listVersions(id, { prefix: '', delimiter: null, after: null, limit: 5000 })
        .versions.map(({ key, isDeleteMarker }) => (isDeleteMarker ? `${key}-` : key)),
    titles: () =>
      store.read((db) => events.list(db, { start: 0, limit: 0 })).messages.map(({ msg_title }) => msg_title),
  };
}

test('objects go on the midnight after their days, with one event', async (t) => {
  const { clock, worker, bucket, put, keys, titles } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, prefix: 'logs/', expireDays: 2, tags: { keep: 'no' } }]);
  const attributes = { tags: { keep: 'no' } };
  for (const key of ['logs/1', 'logs/2', 'data/1']) await put(aging, key, { attributes });
  await put(aging, 'logs/untagged');
  clock.set('2026-03-03T23:59:59Z');
  await worker.run();
  assert.equal(keys(aging).length, 4);
  clock.set('2026-03-04T00:00:00Z');
  await worker.run();
  assert.deepEqual(keys(aging), ['data/1', 'logs/untagged']);
  assert.deepEqual(titles(), ['Lifecycle rules removed 2 objects.']);
  await worker.run();
  assert.equal(titles().length, 1);
});

test('a rule that is new or changed works at once, not tomorrow', async (t) => {
  const { clock, commit, worker, bucket, put, keys } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, expireDays: 30 }]);
  await put(aging, 'a');
  clock.advance(3 * DAY);
  await worker.run();
  const settings = { lifecycle: [{ ...rule, expireDate: Date.UTC(2026, 2, 2) }] };
  await commit('changeBucket', { bucket: aging.id, settings, at: clock.now() });
  await worker.run();
  assert.deepEqual(keys(aging), []);
});

test('in a versioned bucket an object is hidden, older versions go by their own days, the newest few stay', async (t) => {
  const { clock, commit, worker, bucket, put, entries } = setUp(t);
  const rules = [{ ...rule, expireDays: 10, noncurrentDays: 3, noncurrentKeep: 2 }];
  const aging = await bucket('aging', rules);
  await commit('changeBucket', { bucket: aging.id, versioning: 'enabled', at: clock.now() });
  for (let count = 0; count < 5; count++) await put(aging, 'a');
  clock.advance(5 * DAY);
  await worker.run();
  assert.deepEqual(entries(aging), ['a', 'a', 'a'], 'the current one and two behind it');
  clock.advance(6 * DAY);
  await worker.run();
  assert.deepEqual(entries(aging).slice(0, 2), ['a-', 'a']);
});

test('a delete marker that hides nothing goes, one that does stays', async (t) => {
  const { clock, commit, worker, bucket, put, remove, entries } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, expireDeleteMarkers: true }]);
  await commit('changeBucket', { bucket: aging.id, versioning: 'enabled', at: clock.now() });
  await put(aging, 'kept');
  for (const key of ['alone', 'kept']) await remove(aging, key);
  await worker.run();
  assert.deepEqual(entries(aging), ['kept-', 'kept']);
});

test('a lock keeps a version from every rule', async (t) => {
  const { clock, worker, bucket, put, entries, titles } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, noncurrentDays: 1 }], { lockable: true });
  await put(aging, 'a', { legalHold: true });
  await put(aging, 'a', { retention: { mode: 'COMPLIANCE', until: clock.now() + 100 * DAY } });
  await put(aging, 'a');
  clock.advance(10 * DAY);
  await worker.run();
  assert.deepEqual(entries(aging), ['a', 'a', 'a']);
  assert.deepEqual(titles(), []);
  clock.advance(100 * DAY);
  await worker.run();
  assert.deepEqual(entries(aging), ['a', 'a'], 'the hold has no end');
});

test('unfinished uploads are given up', async (t) => {
  const { clock, commit, reader, worker, bucket, titles } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, prefix: 'x', abortUploadDays: 7 }]);
  for (const key of ['x1', 'y1']) {
    await commit('createUpload', {
      bucket: aging.id,
      key,
      owner: 'b'.repeat(32),
      attributes: {},
      retention: null,
      legalHold: false,
      checksumAlgorithm: null,
      checksumType: null,
      at: clock.now(),
    });
  }
  clock.advance(9 * DAY);
  await worker.run();
  const left = reader.uploads(aging.id, { prefix: '', delimiter: null, after: null, limit: 10 }).uploads;
  assert.deepEqual(
    left.map(({ key }) => key),
    ['y1'],
  );
  assert.deepEqual(titles(), ['Lifecycle rules removed 1 unfinished upload.']);
});

test('objects with a time of their own go when it comes, in any bucket', async (t) => {
  const { clock, worker, bucket, put, keys, titles } = setUp(t);
  const plain = await bucket('plain', [], { settings: {} });
  const expiresAt = clock.now() + 60_000;
  await Promise.all(Array.from({ length: 1200 }, (_, count) => put(plain, `soon ${count}`, { expiresAt })));
  await put(plain, 'later', { expiresAt: clock.now() + DAY });
  await worker.run();
  assert.equal(keys(plain).length, 1201);
  clock.advance(60_000);
  await worker.run();
  assert.deepEqual(keys(plain), ['later']);
  assert.deepEqual(titles(), ['Objects whose time was over were removed: 1200.']);
});

test('a walk that was stopped goes on where it was, even in the middle of a key', async (t) => {
  const { clock, commit, newWorker, bucket, put, entries } = setUp(t);
  const aging = await bucket('aging', [{ ...rule, noncurrentDays: 1, noncurrentKeep: 1 }]);
  await commit('changeBucket', { bucket: aging.id, versioning: 'enabled', at: clock.now() });
  await Promise.all(Array.from({ length: 1300 }, () => put(aging, 'a')));
  clock.advance(3 * DAY);
  for (let tries = 0; entries(aging).length > 2 && tries < 10; tries++) {
    const worker = newWorker();
    const running = worker.run();
    setImmediate(() => void worker.stop());
    await running;
  }
  assert.deepEqual(entries(aging), ['a', 'a']);
});

test('what is only hidden moves before: it has a day for that, and what goes for good has none', async (t) => {
  const { clock, commit, worker, bucket, put, entries } = setUp(t);
  const moving = { ...rule, expireDays: 3, transitions: [{ storageClass: 'cold', policy: 1, days: 2 }] };
  const [versioned, plain] = [await bucket('versioned', [moving]), await bucket('plain', [moving])];
  await commit('changeBucket', { bucket: versioned.id, versioning: 'enabled', at: clock.now() });
  const { sequence } = await put(versioned, 'stays');
  const { sequence: other } = await put(versioned, 'moves');
  await put(plain, 'gone');
  const content = { kind: 'empty' } as const;
  const move = { bucket: versioned.id, key: 'moves', sequence: other, seen: content, policy: 1, content };
  await commit('moveVersion', { ...move, at: clock.now() });
  assert.ok(sequence < other);
  clock.set('2026-03-05T00:00:00Z');
  await worker.run();
  assert.deepEqual(entries(plain), []);
  assert.deepEqual(entries(versioned), ['moves-', 'moves', 'stays']);
  clock.advance(DAY);
  await worker.run();
  assert.deepEqual(entries(versioned), ['moves-', 'moves', 'stays-', 'stays']);
});

test('what a lifecycle rule removes is reported as its doing: an object, an older version, a new delete marker', async (t) => {
  const { clock, commit, reader, worker, bucket, put } = setUp(t);
  const address = 'https://hooks.example.org/';
  const hook = { id: 'all', address, events: ['s3:LifecycleExpiration:*'] };
  const notifications = { seed: '0'.repeat(32), rules: [hook] };
  const reported = () =>
    reader.notificationsDue(address, clock.now(), 100).map(({ happened: { event, key, versionId, cause } }) => {
      return [event, key, versionId !== undefined, cause?.user];
    });
  const plain = await bucket('plain', [{ ...rule, expireDays: 1 }], {
    settings: { lifecycle: [{ ...rule, expireDays: 1 }], notifications },
  });
  const lifecycle = [{ ...rule, expireDays: 3, noncurrentDays: 3 }];
  const versioned = await bucket('versioned', lifecycle, { settings: { lifecycle, notifications } });
  await commit('changeBucket', { bucket: versioned.id, versioning: 'enabled', at: clock.now() });
  await put(plain, 'a');
  clock.advance(2 * DAY);
  await worker.run();
  assert.deepEqual(reported(), [['LifecycleExpiration:Delete', 'a', false, 's3.amazonaws.com']]);
  await put(versioned, 'b');
  await put(versioned, 'b');
  clock.advance(5 * DAY);
  await worker.run();
  assert.deepEqual(reported().slice(1).toSorted(), [
    ['LifecycleExpiration:Delete', 'b', true, 's3.amazonaws.com'],
    ['LifecycleExpiration:DeleteMarkerCreated', 'b', true, 's3.amazonaws.com'],
  ]);
});
