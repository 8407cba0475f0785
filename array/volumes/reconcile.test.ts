import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { EngineError } from '../engine/errors.ts';
import { GB } from '../units.ts';
import { findAnyVolume, updateVolume } from './repository.ts';
import { POOL, volumesAlone, wantedVolume } from './testing/volumes-alone.ts';

const plain = { compression: false, deduplication: false };

test('a volume the engine made before a crash, and that is not on record, goes; its name is not used again', async (t) => {
  const world = await volumesAlone(t);
  await world.engine.createVolume({ id: 'volume-00000123', pool: POOL, sizeBytes: GB, ...plain });
  const { volumes } = await world.restart();
  assert.deepEqual([...world.engine.volumes.keys()], []);
  const { name } = await volumes.create(wantedVolume('next'), 'dana');
  assert.equal(name, 'volume-00000124');
});

test('a volume that is not on record but holds data is kept, and an event says so', async (t) => {
  const world = await volumesAlone(t);
  await world.engine.createVolume({ id: 'volume-00000007', pool: POOL, sizeBytes: GB, ...plain });
  world.engine.set('volume-00000007', { ownBytes: 4096 });
  const { titles } = await world.restart();
  assert.ok(world.engine.volumes.has('volume-00000007'));
  assert.match(titles('volume-00000007')[0] ?? '', /has data and is not on record; it is kept/);
});

test('an expansion that was cut off before it was on record is taken over', async (t) => {
  const world = await volumesAlone(t);
  const { name } = await world.array.volumes.create(wantedVolume('data'), 'dana');
  await world.engine.expandVolume(name, 20 * GB);
  const { volumes } = await world.restart();
  assert.equal(volumes.get(name).sizeBytes, 20 * GB);
});

test('a volume that the engine has in another pool than is on record is on record there', async (t) => {
  const world = await volumesAlone(t);
  const { name } = await world.array.volumes.create(wantedVolume('data'), 'dana');
  world.engine.set(name, { pool: 'pool-00000009' });
  const { volumes, titles } = await world.restart();
  assert.equal(volumes.get(name).pool, 'pool-00000009');
  assert.ok(titles(name).some((title) => /was found in pool pool-00000009/.test(title)));
});

test('a volume whose caps cannot be applied does not keep the array from serving', async (t) => {
  const world = await volumesAlone(t);
  const { volumes } = world.array;
  const gone = await volumes.create(wantedVolume('gone', { readIopsCap: 500 }), 'dana');
  const other = await volumes.create(wantedVolume('other', { readIopsCap: 600 }), 'dana');
  world.engine.volumes.delete(gone.name);
  await world.restart();
  assert.equal(world.engine.caps.get(other.name)?.readIops, 600);
});

test('caps and a change of reduction that was cut off are sent to the engine again', async (t) => {
  const world = await volumesAlone(t);
  const { volumes, store } = world.array;
  const capped = await volumes.create(wantedVolume('capped', { readIopsCap: 500, writeMbpsCap: 2 }), 'dana');
  const reduced = await volumes.create(wantedVolume('reduced', { compress: true }), 'dana');
  await store.write((tx) => updateVolume(tx, reduced.name, { dedupe: true, isReductionPending: true }));
  const after = await world.restart();
  const caps = { readIops: 500, readBytesPerSecond: 0, writeIops: 0, writeBytesPerSecond: 2 * 2 ** 20 };
  assert.deepEqual(world.engine.caps.get(capped.name), caps);
  assert.deepEqual(world.engine.reductions.get(reduced.name), { compression: true, deduplication: true });
  assert.equal(after.volumes.get(reduced.name).isReductionPending, false);
});

test('a deletion that was cut off is finished after the restart', async (t) => {
  const world = await volumesAlone(t);
  const { volumes, jobs, store } = world.array;
  const { name } = await volumes.create(wantedVolume('data'), 'dana');
  await jobs.stop();
  const job = await volumes.delete(name, { force: false }, 'dana');
  assert.equal(volumes.get(name).state, 'deleting');
  assert.ok(world.engine.volumes.has(name));
  assert.equal(store.read((db) => findAnyVolume(db, name))?.deleteJob, job);
  const after = await world.restart();
  assert.equal((await after.jobs.wait(job ?? 0, 5_000))?.state, 'done');
  assert.equal(world.engine.volumes.has(name), false);
  assert.throws(() => after.volumes.get(name), { entry: 'volume_not_found' });
});

test('what the engine refuses leaves nothing behind, and the name stays free', async (t) => {
  const { engine, array } = await volumesAlone(t);
  engine.failure = new EngineError('full', 'The pool has no room.');
  await assert.rejects(array.volumes.create(wantedVolume('data'), 'dana'), { entry: 'capacity_refused' });
  assert.equal(array.volumes.list({}, { start: 0, limit: 0 }).count, 0);
  await array.volumes.create(wantedVolume('data'), 'dana');
  assert.equal(engine.volumes.size, 1);
});

test('a deletion waits out a controller that failed over', async (t) => {
  const { engine, array } = await volumesAlone(t);
  const { name } = await array.volumes.create(wantedVolume('data'), 'dana');
  engine.failure = new EngineError('interrupted', 'The controller is gone.');
  const job = (await array.volumes.delete(name, { force: false }, 'dana')) ?? 0;
  await until(() => {
    const { attempts = 0, state } = array.jobs.get(job) ?? {};
    return attempts > 0 && state === 'queued';
  });
  assert.ok(engine.volumes.has(name));
});

test('a volume and its clone that are both not on record are kept: what they share is counted with neither', async (t) => {
  const world = await volumesAlone(t);
  const { engine } = world;
  await engine.createVolume({ id: 'volume-00000007', pool: POOL, sizeBytes: GB, ...plain });
  await engine.takeSnapshots([{ volume: 'volume-00000007', snapshot: 'snap' }]);
  await engine.cloneSnapshot('snap', 'volume-00000008');
  await world.restart();
  assert.deepEqual([...engine.volumes.keys()], ['volume-00000007', 'volume-00000008']);
});

test('a clone that was cut off is undone, and its source stays', async (t) => {
  const world = await volumesAlone(t);
  const { engine } = world;
  const { volumes, store } = world.array;
  const source = await volumes.create(wantedVolume('data'), 'dana');
  await engine.takeSnapshots([{ volume: source.name, snapshot: 'snap' }]);
  const clone = await volumes.createClone('copy', source, 'snap', 'dana');
  assert.deepEqual([clone.state, clone.displayName], ['ready', 'copy']);
  await store.write((tx) => updateVolume(tx, clone.name, { state: 'creating' }));
  await assert.rejects(volumes.delete(clone.name, { force: true }, 'dana'), { entry: 'state_conflict' });
  const after = await world.restart();
  assert.deepEqual([...engine.volumes.keys()], [source.name]);
  assert.throws(() => after.volumes.get(clone.name), { entry: 'volume_not_found' });
});

test('what a caller records with a clone is there exactly if the clone is', async (t) => {
  const { engine, array } = await volumesAlone(t);
  const { volumes } = array;
  const source = await volumes.create(wantedVolume('data'), 'dana');
  await engine.takeSnapshots([{ volume: source.name, snapshot: 'snap' }]);
  const recorded: string[] = [];
  const clone = await volumes.createClone('copy', source, 'snap', 'dana', (_tx, name) => recorded.push(name));
  assert.deepEqual(recorded, [clone.name]);
  const failing = volumes.createClone('other', source, 'snap', 'dana', () => {
    throw new Error('refused by the caller');
  });
  await assert.rejects(failing, /refused by the caller/);
  assert.deepEqual([...engine.volumes.keys()], [source.name, clone.name]);
});

test('a clone that the engine refuses leaves neither row nor volume', async (t) => {
  const { engine, array } = await volumesAlone(t);
  const source = await array.volumes.create(wantedVolume('data'), 'dana');
  engine.failure = new EngineError('full', 'The pool has no room.');
  await assert.rejects(array.volumes.createClone('copy', source, 'snap', 'dana'), { entry: 'capacity_refused' });
  assert.equal(array.volumes.list({}, { start: 0, limit: 0 }).count, 1);
  assert.deepEqual([...engine.volumes.keys()], [source.name]);
});
