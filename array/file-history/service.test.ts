import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/errors.ts';
import { OTHER_SHARE, quotasAlone, SHARE } from '../quotas/testing/quotas-alone.ts';

const WHOLE = { start: 0, limit: 0 };

async function setUp(t: Parameters<typeof quotasAlone>[0]) {
  const alone = await quotasAlone(t);
  const { snapshots, share } = alone.array;
  const take = async (application: 'file_history' | 'user', volume = SHARE) => {
    const naming = { displayName: 'nightly', orSimilar: true, application };
    return (await snapshots.take([share(volume)], naming, 'dana'))[0]!.name;
  };
  const restores = () => alone.array.history.listRestores(SHARE, WHOLE).restores;
  return { alone, shares: alone.shares, take, restores };
}

test('the history of a share is the snapshots taken for it, and is deleted without any other', async (t) => {
  const { alone, take } = await setUp(t);
  const { history, snapshots } = alone.array;
  await assert.rejects(history.delete(SHARE, 'dana'), /nothing to delete/);
  const [first, kept, second] = [await take('file_history'), await take('user'), await take('file_history')];
  await take('file_history', OTHER_SHARE);
  const { snapshots: listed, count } = history.list(SHARE, { start: 1, limit: 5 });
  assert.deepEqual([count, listed.map(({ name }) => name)], [2, [second]]);
  assert.equal(history.list(SHARE, WHOLE).snapshots[0]?.name, first);
  await history.delete(SHARE, 'dana');
  assert.deepEqual(
    snapshots.list({ volume: SHARE, ...WHOLE }).snapshots.map(({ name }) => name),
    [kept],
  );
  assert.equal(history.list(OTHER_SHARE, WHOLE).count, 1);
});

test('a file is restored over itself or beside it, from any snapshot of its share', async (t) => {
  const { alone, shares, take, restores } = await setUp(t);
  const { history, jobs } = alone.array;
  const [snapshot, other] = [await take('file_history'), await take('user')];
  for (const wanted of [
    { snapshot, path: '/a/b' },
    { snapshot: other, path: '/a/b', toPath: '/c' },
  ])
    assert.equal((await jobs.wait((await history.restore(SHARE, wanted, 'dana')).job, -1))?.state, 'done');
  assert.deepEqual(shares.restored, [`${snapshot} /a/b /a/b`, `${other} /a/b /c`]);
  assert.deepEqual(
    restores().map(({ name, state }) => [name, state]),
    [
      ['restore-00000002', 'done'],
      ['restore-00000001', 'done'],
    ],
  );
  assert.equal(alone.array.titles().at(-1), `Share ${SHARE}: /a/b of snapshot ${other} was restored to /c.`);
  const foreign = await take('user', OTHER_SHARE);
  for (const [wanted, reason] of [
    [{ snapshot: foreign, path: '/a' }, /Snapshot .* was not found/],
    [{ snapshot, path: 'a' }, /path must name a file/],
    [{ snapshot, path: '/a/' }, /path must name a file/],
    [{ snapshot, path: '/a/../b' }, /path must name a file/],
    [{ snapshot, path: '/a', toPath: '/' }, /to_path must name a file/],
    [{ snapshot, path: '/a\0' }, /path must not hold a NUL/],
    [{ snapshot, path: `/${'x'.repeat(256)}` }, /path must have names/],
  ] as const)
    await assert.rejects(async () => history.restore(SHARE, wanted, 'dana'), reason);
});

test('why a file could not be restored is reported, and one that was cut off is restored at the next start', async (t) => {
  const { alone, shares, take, restores } = await setUp(t);
  const snapshot = await take('file_history');
  shares.before = () => Promise.reject(new EngineError('not-found', 'There is no file /a.'));
  const { history, jobs } = alone.array;
  const failed = await jobs.wait((await history.restore(SHARE, { snapshot, path: '/a' }, 'dana')).job, -1);
  assert.equal(failed?.error, 'There is no file /a.');
  assert.deepEqual([restores()[0]?.state, restores()[0]?.problem], ['failed', 'There is no file /a.']);
  const reached = Promise.withResolvers<undefined>();
  shares.before = (_path, _project, { onProgress }) => {
    onProgress?.(0.5);
    reached.resolve(undefined);
    return new Promise(() => undefined);
  };
  const { job } = await history.restore(SHARE, { snapshot, path: '/b' }, 'dana');
  await reached.promise;
  assert.equal(restores()[0]?.state, 'running');
  shares.before = () => Promise.resolve();
  const { jobs: next } = await alone.kill();
  await next.wait(job, -1);
  assert.deepEqual([restores()[0]?.state, shares.restored], ['done', [`${snapshot} /b /b`]]);
});
