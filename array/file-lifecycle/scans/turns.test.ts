import { bytes } from '@granary/kernel';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertObject } from '../archive/repository.ts';
import { lifecycleAlone } from '../testing/lifecycle-alone.ts';
import { listedFile } from '../testing/listed-file.ts';
import { otherS3 } from '../testing/other-s3.ts';
import { matchFiles, type RunningRule } from './matching.ts';

/**
 * Goal: however many files a share has, a scan does little before others get their turn. Method: what is done between two
 * turns is counted, since the time that it takes is another on every machine.
 */
const AT_ONCE_MAX = 250;

test('files are matched a few at a time, between which others get their turn', async () => {
  const files = Array.from({ length: 1_000 }, (_, inode) => listedFile({ inode, path: `/${inode}` }));
  const perTurn: number[] = [];
  let matched = 0;
  const rule = { matches: () => ((matched += 1), true) } as unknown as RunningRule;
  const matches = await matchFiles(files, [rule], () => {
    perTurn.push(matched);
    matched = 0;
    return Promise.resolve();
  });
  assert.deepEqual(
    matches.map(({ file }) => file),
    files,
  );
  assert.equal(matched, 0, 'also the last of them');
  assert.ok(Math.max(...perTurn) <= AT_ONCE_MAX, `${Math.max(...perTurn)}`);
  assert.equal(
    perTurn.reduce((sum, count) => sum + count, 0),
    files.length,
  );
});

test('a scan lists, reserves, marks and removes a few records at a time', async (t) => {
  const it = await lifecycleAlone(t);
  const { array, engine } = it;
  const { endpoint, username, password } = await otherS3(t);
  const place = {
    name: 'archive',
    bucket: 'archive',
    endpoint,
    username,
    password,
    type: 's3',
    connectVia: 'fe',
  } as const;
  const { name: destination } = await array.destinations.create(
    { ...place, allow_lifecycle_policies: false },
    'tester',
  );
  const share = await it.share('many');
  await it.attach(await it.policy({ criteria: { extension: 'log' }, action: 'archive', destination }), share);
  const inodes = Array.from({ length: 300 }, (_, n) => engine.add(share, `/${n}.log`, 'x'));
  const listed: number[] = [];
  const listFiles = engine.listFiles.bind(engine);
  engine.listFiles = (snapshot, after, limit) => (listed.push(limit), listFiles(snapshot, after, limit));
  // Rows that one commit changes; SQLite counts them.
  const changed: number[] = [];
  const { store } = array;
  const write = store.write.bind(store);
  store.write = ((work: (tx: never) => unknown) =>
    write((tx) => {
      const total = () => tx.get<{ n: number }>('SELECT total_changes() AS n')?.n ?? 0;
      const before = total();
      const result = work(tx as never);
      changed.push(total() - before);
      return result;
    })) as typeof store.write;

  await it.scan(share);
  assert.ok([...engine.of(share).values()].every(({ isArchived }) => isArchived));
  await it.scan(share);
  for (const inode of inodes) engine.of(share).delete(inode);
  await write((tx) => {
    const left = { volume: share, destination: `${endpoint}/archive`, sizeBytes: bytes(1), createdAt: 0 };
    for (let n = 0; n < 300; n += 1) insertObject(tx, { ...left, key: `left by a crash ${n}` });
  });
  await it.scan(share);
  assert.equal(store.read((db) => db.get<{ n: number }>('SELECT count(*) AS n FROM archived_objects'))?.n, 0);
  assert.ok(Math.max(...listed) <= AT_ONCE_MAX, `${Math.max(...listed)} are listed`);
  // A few more are the records of the scan and of its job.
  assert.ok(Math.max(...changed) <= AT_ONCE_MAX + 10, `${Math.max(...changed)} are changed`);
});
