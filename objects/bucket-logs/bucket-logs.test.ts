import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createLog, Store } from '@granary/kernel';
import {
  ObjectError,
  type AccessLogging,
  type Arguments,
  type Bucket,
  type Commit,
} from '@granary/storage/object-store';
import { temporaryFolder } from '../../testing/folders.ts';
import { bucketLogMigrations } from './migrations.ts';
import { BucketLogs } from './service.ts';

const NOW = Date.parse('2026-11-19T01:02:03Z');
const DAY_MS = 86_400_000;
const ACCOUNT = 'a'.repeat(32);

function bucket(id: number, name: string, settings: Bucket['settings'] = {}): Bucket {
  const counters = { objects: 0, bytes: 0, noncurrent: 0 };
  return {
    id,
    account: ACCOUNT,
    name,
    policy: 0,
    createdAt: 0,
    versioning: 'off',
    lockable: false,
    settings,
    ...counters,
  };
}

interface Rig {
  readonly logs: BucketLogs;
  readonly put: Map<string, Arguments<'putObject'>>;
  readonly text: () => string[];
  /** Thrown by the next put, before or after it is done. */
  fail: 'before' | 'after' | undefined;
  readonly store: Store;
}

function start(
  t: TestContext,
  buckets: readonly Bucket[],
  folder = temporaryFolder(t),
  put: Rig['put'] = new Map(),
): Rig {
  const store = new Store(join(folder, 'bucket-log.db'), bucketLogMigrations);
  const commit = (async (_operation: 'putObject', args: Arguments<'putObject'>) => {
    if (rig.fail === 'before') throw new ObjectError('no-space', 'full');
    if (put.has(args.key)) throw new ObjectError('precondition-failed', 'It is there.');
    put.set(args.key, args);
    if (rig.fail === 'after') throw new ObjectError('closed', 'killed');
  }) as unknown as Commit;
  const rig: Rig = {
    store,
    put,
    fail: undefined,
    logs: new BucketLogs({
      store,
      commit,
      clock: { now: () => NOW },
      log: createLog('test', 'silent'),
      catalogue: {
        bucketById: (id) => buckets.find((each) => each.id === id),
        bucket: (account, name) => buckets.find((each) => each.account === account && each.name === name),
      },
      region: () => 'us-east-1',
    }),
    text: () =>
      [...put.values()].map(({ content }) => (content.kind === 'bytes' ? Buffer.from(content.bytes).toString() : '')),
  };
  t.after(() => store.close());
  return rig;
}

function logging(more: Partial<AccessLogging> = {}): Bucket[] {
  const target = { targetBucket: 'logs', targetPrefix: 'p/', ...more };
  return [bucket(1, 'photos', { logging: target }), bucket(2, 'logs')];
}

test('lines become one object of the target, in their order, with the name of the simple form', async (t) => {
  const { logs, put, text } = start(t, logging());
  logs.add([{ bucket: 1, line: 'one' }], NOW);
  logs.add([{ bucket: 1, line: 'two' }], NOW);
  await logs.deliver();
  assert.deepEqual(text(), ['one\ntwo\n']);
  const [[key, args] = ['']] = put;
  assert.match(key, /^p\/2026-11-19-01-02-03-[0-9A-F]{16}$/);
  assert.deepEqual([args?.bucket, args?.attributes.contentType], [2, 'text/plain']);
  await logs.deliver();
  assert.equal(put.size, 1, 'nothing is written twice');
});

test('the partitioned form names account, region, bucket and day, by delivery or by event', async (t) => {
  const place = `p/${ACCOUNT}/us-east-1/photos`;
  const byDelivery = start(t, logging({ keyFormat: 'delivery-time' }));
  byDelivery.logs.add([{ bucket: 1, line: 'x' }], NOW - DAY_MS);
  await byDelivery.logs.deliver();
  assert.match([...byDelivery.put.keys()][0]!, new RegExp(`^${place}/2026/11/19/2026-11-19-01-02-03-[0-9A-F]{16}$`));
  const byEvent = start(t, logging({ keyFormat: 'event-time' }));
  byEvent.logs.add([{ bucket: 1, line: 'yesterday' }], NOW - DAY_MS);
  byEvent.logs.add([{ bucket: 1, line: 'today' }], NOW);
  await byEvent.logs.deliver();
  assert.deepEqual(byEvent.text(), ['yesterday\n', 'today\n']);
  assert.match([...byEvent.put.keys()][0]!, new RegExp(`^${place}/2026/11/18/2026-11-18-00-00-00-[0-9A-F]{16}$`));
});

test('grants of the settings are those of the objects, beside their owner', async (t) => {
  const to = 'b'.repeat(32);
  const { logs, put } = start(t, logging({ grants: [{ to, permission: 'READ' }] }));
  logs.add([{ bucket: 1, line: 'x' }], NOW);
  await logs.deliver();
  const owner = { to: ACCOUNT, permission: 'FULL_CONTROL' };
  assert.deepEqual([...put.values()][0]?.attributes.grants, [owner, { to, permission: 'READ' }]);
});

test('what was written down is delivered after a restart, and what was delivered is not delivered again', async (t) => {
  const folder = temporaryFolder(t);
  const first = start(t, logging(), folder);
  first.logs.add([{ bucket: 1, line: 'x' }], NOW);
  first.fail = 'before';
  await first.logs.deliver();
  first.store.close();
  const second = start(t, logging(), folder);
  second.fail = 'after';
  await second.logs.deliver();
  assert.deepEqual(second.text(), ['x\n']);
  second.store.close();
  const third = start(t, logging(), folder, second.put);
  await third.logs.deliver();
  third.logs.add([{ bucket: 1, line: 'y' }], NOW);
  await third.logs.deliver();
  assert.deepEqual(third.text(), ['x\n', 'y\n']);
});

test('lines without a place to go are dropped, and a full target keeps them waiting', async (t) => {
  const gone = start(t, [bucket(1, 'photos', { logging: { targetBucket: 'never-made', targetPrefix: '' } })]);
  gone.logs.add([{ bucket: 1, line: 'x' }], NOW);
  await gone.logs.deliver();
  assert.equal(
    gone.store.read((db) => db.get('SELECT 1 FROM lines', {})),
    undefined,
  );
  const buckets = logging();
  const full = start(t, buckets);
  buckets[1] = { ...buckets[1]!, settings: { quotaBytes: 10 } };
  full.logs.add([{ bucket: 1, line: 'x' }], NOW);
  await full.logs.deliver();
  assert.deepEqual(full.text(), []);
  buckets[1] = bucket(2, 'logs');
  await full.logs.deliver();
  assert.deepEqual(full.text(), ['x\n']);
});
