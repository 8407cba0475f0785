import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/errors.ts';
import { MB } from '../units.ts';
import { copyProjects } from './repository.ts';
import { OTHER_SHARE, quotasAlone, SHARE } from './testing/quotas-alone.ts';

const WHOLE = { start: 0, limit: 0 };

async function setUp(t: Parameters<typeof quotasAlone>[0]) {
  const alone = await quotasAlone(t);
  for (const path of ['/', '/a', '/a/b', '/ab', '/c']) alone.shares.directories.set(path, 0);
  const project = await alone.array.projects.create(SHARE, 'apollo', 'dana');
  const done = async (begun: Promise<{ job: number }>) => (await alone.array.jobs.wait((await begun).job, -1))!;
  const add = (path: string, name = project.name) => done(alone.array.projects.addDirectory(SHARE, name, path, 'dana'));
  const remove = (path: string) => done(alone.array.projects.removeDirectory(SHARE, project.name, path, 'dana'));
  const paths = () =>
    alone.array.projects
      .list(SHARE, WHOLE)
      .projects.map(({ directories }) => directories.map(({ path, state }) => `${path} ${state}`));
  return { ...alone, alone, project, add, remove, paths };
}

test('everything in a directory belongs to its project until it is taken out', async (t) => {
  const { shares, project, add, remove, paths, array } = await setUp(t);
  assert.equal((await add('/a//b/')).state, 'done');
  assert.equal(shares.directories.get('/a/b'), project.number);
  assert.deepEqual(paths(), [['/a/b ready']]);
  assert.equal((await remove('/a/b')).state, 'done');
  assert.equal(shares.directories.get('/a/b'), 0);
  assert.deepEqual(paths(), [[]]);
  await assert.rejects(remove('/a/b'), /nothing to delete/);
  assert.deepEqual(array.titles().slice(-2), [
    `Directory /a/b of share ${SHARE} was added to quota project ${project.name}.`,
    `Directory /a/b of share ${SHARE} was taken out of quota project ${project.name}.`,
  ]);
});

test('a project is created together with its directories, or not at all', async (t) => {
  const { array, paths } = await setUp(t);
  const enqueue = array.jobs.enqueue.bind(array.jobs);
  array.jobs.enqueue = (...args: Parameters<typeof enqueue>) => {
    if ((args[3] as { path?: string }).path === '/c') throw new Error('a crash in between');
    return enqueue(...args);
  };
  await assert.rejects(array.projects.createWith(SHARE, 'gemini', ['/ab', '/c'], 'dana'), /a crash in between/);
  assert.deepEqual(paths(), [[]], 'neither the project nor its first directory');
  array.jobs.enqueue = enqueue;
  const { begun, errors } = await array.projects.createWith(SHARE, 'gemini', ['/ab', 'relative', '/c'], 'dana');
  assert.deepEqual([begun.map(({ path }) => path), errors.length], [['/ab', '/c'], 1]);
  for (const { job } of begun) await array.jobs.wait(job, -1);
  assert.deepEqual(paths(), [[], ['/ab ready', '/c ready']]);
});

test('a directory that was made anew is added again by the same call', async (t) => {
  const { shares, project, add, paths } = await setUp(t);
  await add('/a');
  shares.directories.set('/a', 0);
  assert.equal((await add('/a')).state, 'done');
  assert.equal(shares.directories.get('/a'), project.number);
  assert.deepEqual(paths(), [['/a ready']]);
});

test('directories of projects do not overlap, and names of projects differ within a share', async (t) => {
  const { array, add, paths, shares } = await setUp(t);
  const { name: second } = await array.projects.create(SHARE, 'gemini', 'dana');
  await assert.rejects(array.projects.create(SHARE, 'gemini', 'dana'), /The name gemini is taken/);
  await array.projects.create(OTHER_SHARE, 'gemini', 'dana');
  await add('/a');
  for (const path of ['/a', '/a/', '/a/b', '/', '//a//b'])
    await assert.rejects(add(path, second), /is in quota project .* already|overlaps/, path);
  assert.equal((await add('/ab', second)).state, 'done');
  for (const path of ['a', '', '/a/../c', '/./a', `/${'x'.repeat(256)}`, '/a\0b'])
    await assert.rejects(add(path, second), /path must/, path);
  await assert.rejects(add('/c', 'project-00000099'), /Quota project project-00000099 was not found/);
  assert.deepEqual(paths(), [['/a ready'], ['/ab ready']]);
  assert.equal(shares.directories.get('/c'), 0);
});

test('a directory that is not there is not added, and one whose move fails belongs to no project', async (t) => {
  const { shares, add, paths, project, array } = await setUp(t);
  const missing = await add('/none');
  assert.deepEqual([missing.state, missing.error], ['failed', 'There is no directory /none.']);
  shares.before = (path, number) => {
    shares.directories.set(path, number);
    return number === 0
      ? Promise.resolve()
      : Promise.reject(new EngineError('conflict', `The quota of project ${number} is 1 MB.`));
  };
  const refused = await add('/a');
  assert.match(refused.error!, /The quota of project/);
  assert.equal(shares.directories.get('/a'), 0);
  assert.deepEqual(paths(), [[]]);
  assert.match(
    array.titles().at(-1)!,
    new RegExp(`^Directory /a of share .* could not be added to .*${project.name}: `),
  );
});

test('a project is deleted with its directories by force only, and its quota goes with it', async (t) => {
  const { shares, array, project, add, paths } = await setUp(t);
  const remove = (force: boolean) => array.projects.delete(SHARE, project.name, force, 'dana');
  await add('/a');
  await add('/c');
  await shares.setQuotas(SHARE, [{ scope: 'project', id: project.number, limitBytes: MB }]);
  await assert.rejects(remove(false), /has 2 directories; take them out first, or use force=YES/);
  assert.equal((await array.jobs.wait(await remove(true), -1))?.state, 'done');
  assert.deepEqual([shares.directories.get('/a'), shares.directories.get('/c')], [0, 0]);
  assert.deepEqual(await shares.quotas(SHARE, 'project', 0, 10), []);
  assert.deepEqual(paths(), []);
  await assert.rejects(remove(true), /was not found/);
  // Its number is never used again: files that could not be reached may still carry it.
  assert.equal((await array.projects.create(SHARE, 'apollo', 'dana')).number, project.number + 1);
});

test('a directory that was being added or taken out when the array was killed is so after the next start', async (t) => {
  const { alone, shares, project, paths } = await setUp(t);
  const cutOff = async (begin: () => Promise<{ job: number }>) => {
    const reached = Promise.withResolvers<undefined>();
    shares.before = () => {
      reached.resolve(undefined);
      return new Promise(() => undefined);
    };
    const { job } = await begin();
    await reached.promise;
    shares.before = () => Promise.resolve();
    const { jobs } = await alone.kill();
    assert.equal((await jobs.wait(job, -1))?.state, 'done');
  };
  await cutOff(() => alone.array.projects.addDirectory(SHARE, project.name, '/a', 'dana'));
  assert.equal(shares.directories.get('/a'), project.number);
  assert.deepEqual(paths(), [['/a ready']]);
  await cutOff(() => alone.array.projects.removeDirectory(SHARE, project.name, '/a', 'dana'));
  assert.equal(shares.directories.get('/a'), 0);
  assert.deepEqual(paths(), [[]]);
});

test('what is taken out while it is being added ends outside', async (t) => {
  const { array, shares, project, paths } = await setUp(t);
  const open = Promise.withResolvers<undefined>();
  const reached = Promise.withResolvers<undefined>();
  shares.before = async () => {
    reached.resolve(undefined);
    await open.promise;
  };
  const adding = await array.projects.addDirectory(SHARE, project.name, '/a', 'dana');
  await reached.promise;
  assert.deepEqual(paths(), [['/a adding']]);
  const removing = await array.projects.removeDirectory(SHARE, project.name, '/a', 'dana');
  assert.deepEqual(paths(), [['/a removing']]);
  open.resolve(undefined);
  for (const { job } of [adding, removing]) await array.jobs.wait(job, -1);
  assert.equal(shares.directories.get('/a'), 0);
  assert.deepEqual(paths(), [[]]);
});

test('a clone has the projects of its source, and a deleted share takes its own along', async (t) => {
  const { array, add, project } = await setUp(t);
  await add('/a');
  await array.store.write((tx) => copyProjects(tx, SHARE, OTHER_SHARE));
  const [copy] = array.projects.list(OTHER_SHARE, WHOLE).projects;
  assert.deepEqual([copy!.name, copy!.number, copy!.directories.length], [project.name, project.number, 1]);
  await array.store.write((tx) => tx.run('DELETE FROM volumes WHERE name = :SHARE', { SHARE }));
  const left = array.store.read((db) => db.all<{ volume: string }>('SELECT volume FROM quota_directories'));
  assert.deepEqual(
    left.map(({ volume }) => volume),
    [OTHER_SHARE],
  );
});
