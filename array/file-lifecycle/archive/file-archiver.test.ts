import { bytes } from '@granary/kernel';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { EngineError } from '../../engine/errors.ts';
import { findRemovable, insertClone, insertObject, neededAgain } from './repository.ts';
import { archiveBucket, lifecycleAlone } from '../testing/lifecycle-alone.ts';
import { otherS3 } from '../testing/other-s3.ts';

async function setUp(t: TestContext, policy: object = {}) {
  const it = await lifecycleAlone(t);
  const bucket = await archiveBucket(t, it.array);
  const share = await it.share('projects');
  const criteria = { extension: 'log' };
  const name = await it.policy({ criteria, action: 'archive', destination: bucket.name, ...policy });
  await it.attach(name, share);
  const keys = async () => (await bucket.client.call('GET', '/archive', { query: { 'list-type': '2' } })).all('Key');
  const recall = (inode: number, volume = share) => {
    const { generation, sizeBytes, archive } = it.engine.of(volume).get(inode)!;
    assert.ok(archive);
    it.array.lifecycle.recalls.request({ type: 'recall-wanted', volume, inode, generation, sizeBytes, archive });
  };
  return { ...it, it, bucket, share, policy: name, keys, recall };
}

test('archived files are stubs of their size, their bytes are in the bucket, and reading brings them back', async (t) => {
  const { it, share, engine, scan, keys, bucket, recall } = await setUp(t);
  const contents = [Buffer.from('small'), randomBytes(3 * 2 ** 20 + 17), randomBytes(9 * 2 ** 20 + 1)];
  const inodes = contents.map((bytes, n) => engine.add(share, `/${n}.log`, bytes));
  engine.add(share, '/empty.log', '');
  engine.add(share, '/other.txt', 'stays');
  await scan(share);
  assert.deepEqual(it.rule(share)?.problem, null);
  assert.equal(it.rule(share)?.handledFiles, 3);
  for (const [n, inode] of inodes.entries()) {
    const { isArchived, sizeBytes, bytes, archive } = engine.of(share).get(inode)!;
    assert.deepEqual([isArchived, sizeBytes, bytes.length], [true, contents[n]?.length, 0]);
    assert.equal(archive?.destination, bucket.reference);
    assert.match(archive.key, new RegExp(`^vsa-00000001/${share}/${inode}-1-[0-9a-f]{16}$`));
    const stored = await bucket.client.call('GET', `/archive/${archive.key}`);
    assert.ok(stored.bytes.equals(contents[n]!));
  }
  assert.equal((await keys()).length, 3);
  await scan(share);
  assert.equal(it.rule(share)?.matchedFiles, 0, 'what is archived is not archived again');
  for (const inode of inodes) recall(inode);
  await until(() => engine.recalls.size === 3);
  for (const [n, inode] of inodes.entries()) {
    assert.equal(engine.recalls.get(`${share}/${inode}`), 'done');
    assert.ok(engine.of(share).get(inode)?.bytes.equals(contents[n]!));
  }
});

test('a file that changes while it is sent is left alone, and what was sent is removed by the next scan', async (t) => {
  const { it, share, engine, scan, keys } = await setUp(t);
  const inode = engine.add(share, '/a.log', 'old');
  engine.before = (call) => {
    if (call === 'archive') engine.change(share, inode, 'new');
  };
  await scan(share);
  assert.deepEqual([it.rule(share)?.handledFiles, it.rule(share)?.changedFiles], [0, 1]);
  assert.equal(engine.of(share).get(inode)?.bytes.toString(), 'new');
  engine.before = undefined;
  await scan(share);
  assert.deepEqual(await keys(), [engine.of(share).get(inode)?.archive?.key]);
});

test('objects of files that are gone or came back are removed after the next scan, and not before', async (t) => {
  const { share, engine, scan, keys, recall } = await setUp(t);
  const [gone, back, stays] = ['/gone.log', '/back.log', '/stays.log'].map((path) => engine.add(share, path, path));
  await scan(share);
  assert.equal((await keys()).length, 3);
  engine.of(share).delete(gone!);
  recall(back!);
  await until(() => engine.recalls.size === 1);
  engine.change(share, back!, 'written');
  assert.equal((await keys()).length, 3);
  await scan(share);
  const left = await keys();
  assert.equal(left.length, 2, 'it was archived again');
  assert.ok(left.includes(engine.of(share).get(stays!)?.archive?.key ?? ''));
});

test('an object stays as long as a snapshot from before, or a clone, may need it', async (t) => {
  const { it, share, engine, scan, keys } = await setUp(t);
  const inode = engine.add(share, '/a.log', 'bytes');
  await scan(share);
  const volume = it.array.volumes.get(share);
  const [snapshot] = await it.array.snapshots.take([volume], { displayName: 'kept', application: 'user' }, 'tester');
  engine.of(share).delete(inode);
  await scan(share);
  await scan(share);
  assert.equal((await keys()).length, 1, 'the snapshot has a stub');
  await it.array.store.write((tx) => insertClone(tx, 'volume-00000099', share));
  const clone = await it.share('copy');
  await it.array.store.write((tx) => insertClone(tx, clone, 'volume-00000099'));
  await it.array.snapshots.delete([snapshot?.name ?? ''], 'tester');
  await scan(share);
  assert.equal((await keys()).length, 1, 'a clone of a clone has one');
  await it.array.store.write((tx) => tx.run('DELETE FROM volumes WHERE name = :clone', { clone }));
  await scan(share);
  assert.equal((await keys()).length, 0);
});

test('an object that a restored share may need again stays until a scan has looked', async (t) => {
  const { it, share, engine, scan, keys } = await setUp(t);
  const inode = engine.add(share, '/a.log', 'bytes');
  await scan(share);
  const volume = it.array.volumes.get(share);
  const [snapshot] = await it.array.snapshots.take([volume], { displayName: 'kept', application: 'user' }, 'tester');
  const file = engine.of(share).get(inode)!;
  engine.of(share).delete(inode);
  await scan(share);
  // Back to the snapshot, which then goes.
  engine.of(share).set(inode, file);
  await it.array.store.write((tx) => neededAgain(tx, share));
  await it.array.snapshots.delete([snapshot?.name ?? ''], 'tester');
  await scan(share);
  assert.equal((await keys()).length, 1);
});

test('objects that cannot be removed, or are gone already, keep no others from being removed', async (t) => {
  const { array, share, scan, clock } = await setUp(t).then(({ it, ...rest }) => ({ ...rest, array: it.array }));
  const other = await otherS3(t);
  const { endpoint, username, password } = other;
  const known = { bucket: 'archive', username, password, type: 's3', connectVia: 'fe' } as const;
  const more = { ...known, allow_lifecycle_policies: false };
  await array.destinations.create({ ...more, name: 'other', endpoint }, 'tester');
  const gone = await otherS3(t);
  await array.destinations.create({ ...more, name: 'gone', endpoint: gone.endpoint }, 'tester');
  gone.close();
  const put = (key: string, at: string) => ({ key, volume: share, destination: `${at}/archive`, sizeBytes: bytes(1) });
  await fetch(`http://${endpoint}/archive/z`, { method: 'PUT', body: 'z', headers: { authorization: other.scope } });
  await array.store.write((tx) => {
    for (let n = 0; n < 150; n += 1) insertObject(tx, { ...put(`a${n}`, gone.endpoint), createdAt: clock.now() });
    for (const key of ['y', 'z']) insertObject(tx, { ...put(key, endpoint), createdAt: clock.now() });
    tx.run(`UPDATE archived_objects SET state = 'orphan'`);
  });
  await scan(share);
  assert.deepEqual(await other.keys(), []);
  const left = array.store.read((db) => findRemovable(db, '', undefined)).map(({ key }) => key);
  assert.deepEqual([left.length, left.every((key) => key.startsWith('a'))], [150, true]);
});

test('where it is not known whether a file became a stub, the scan after sees what is left over', async (t) => {
  const { share, engine, keys, scan, clock } = await setUp(t);
  const inode = engine.add(share, '/a.log', 'bytes');
  engine.before = (call) => {
    if (call !== 'archive') return;
    engine.before = undefined;
    throw new EngineError('interrupted', 'The controller is gone.');
  };
  // It is put off for a second of the array's time.
  const time = setInterval(() => clock.advance(1_000), 100);
  await scan(share);
  clearInterval(time);
  assert.ok(engine.of(share).get(inode)?.isArchived);
  assert.deepEqual(await keys(), [engine.of(share).get(inode)?.archive?.key]);
});

test('an array that stops in the middle of a scan counts no failures, and goes on after its start', async (t) => {
  const { it, share, engine, keys, clock } = await setUp(t);
  for (let n = 0; n < 40; n += 1) engine.add(share, `/${n}.log`, `contents ${n}`);
  let archived = 0;
  const reached = Promise.withResolvers<undefined>();
  engine.before = (call) => {
    if (call === 'archive' && (archived += 1) === 10) reached.resolve(undefined);
  };
  clock.advance(86_400_000);
  await it.array.lifecycle.scheduler.runDue();
  await reached.promise;
  await it.restart();
  const time = setInterval(() => clock.advance(1_000), 100);
  await it.idle(share);
  clearInterval(time);
  const rule = it.rule(share);
  assert.deepEqual([rule?.failedFiles, rule?.problem], [0, null]);
  assert.ok([...engine.of(share).values()].every(({ isArchived }) => isArchived));
  assert.ok((await keys()).length >= 40);
});

test('a destination that does not answer fails a few files, not all of them one by one', async (t) => {
  const { it, share, engine, scan, bucket } = await setUp(t);
  for (let n = 0; n < 200; n += 1) engine.add(share, `/${n}.log`, 'bytes');
  await bucket.close();
  await scan(share);
  const rule = it.rule(share);
  assert.ok((rule?.failedFiles ?? 0) < 30, String(rule?.failedFiles));
  assert.match(rule?.problem ?? '', /nothing listens there/);
  assert.ok([...engine.of(share).values()].every(({ isArchived }) => !isArchived));
});

test('a recall that fails answers the reader, and is reported', async (t) => {
  const { it, share, engine, scan, bucket, recall } = await setUp(t);
  const [lost, damaged] = ['/lost.log', '/damaged.log'].map((path) => engine.add(share, path, path));
  await scan(share);
  await bucket.client.call('DELETE', `/archive/${engine.of(share).get(lost!)?.archive?.key}`);
  await bucket.client.call('PUT', `/archive/${engine.of(share).get(damaged!)?.archive?.key}`, { body: '/DAMAGED.log' });
  recall(lost!);
  recall(damaged!);
  await until(() => engine.recalls.size === 2);
  assert.match(engine.recalls.get(`${share}/${lost}`) ?? '', /NoSuchKey/);
  assert.match(engine.recalls.get(`${share}/${damaged}`) ?? '', /not what was archived/);
  assert.ok(engine.of(share).get(damaged!)?.isArchived);
  await until(() =>
    it.array.titles().some((title) => /Archived files of share projects .* cannot be read/.test(title)),
  );
});

test('a clone reads what its source archived', async (t) => {
  const { it, share, engine, scan, recall } = await setUp(t);
  const inode = engine.add(share, '/a.log', 'bytes');
  await scan(share);
  const clone = await it.share('copy');
  engine.of(clone).set(inode, engine.of(share).get(inode)!);
  recall(inode, clone);
  await until(() => engine.recalls.size === 1);
  assert.equal(engine.of(clone).get(inode)?.bytes.toString(), 'bytes');
});
