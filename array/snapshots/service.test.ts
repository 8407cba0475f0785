import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes } from '@granary/kernel';
import { cpuMs } from '../../testing/timing.ts';
import { until } from '../../testing/waiting.ts';
import type { Snapshot } from './snapshot.ts';
import { EngineError } from '../engine/errors.ts';
import { insertSnapshot } from './repository.ts';
import { snapshotsAlone } from './testing/snapshots-alone.ts';

const USER = { application: 'user' } as const;

test('a snapshot that a crash cut off is gone from the record and from the engine', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  await alone.array.snapshots.begin([{ ...USER, volume, displayName: 'half' }]);
  assert.equal(alone.engine.snapshots.size, 1);
  assert.deepEqual(alone.names(), []);
  const { snapshots, store } = await alone.restart();
  await until(() => alone.engine.snapshots.size === 0);
  await until(() => store.read((db) => db.all('SELECT 1 FROM snapshots')).length === 0);
  await snapshots.take([alone.array.volumes.get(volume.name)], { ...USER, displayName: 'half' }, 'tester');
  assert.deepEqual(alone.names(), ['half']);
});

test('a snapshot is as large on record as the engine took it, though its volume was just expanded', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const sizeBytes = volume.sizeBytes * 2;
  await alone.engine.expandVolume(volume.name, sizeBytes);
  const [row] = await alone.array.snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  assert.equal(row?.sizeBytes, sizeBytes);
  assert.equal(alone.array.snapshots.get(row.name).sizeBytes, sizeBytes);
});

test('a deletion that a crash cut off is finished', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const [row] = await alone.array.snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  alone.engine.deleteFailure = new EngineError('interrupted', 'The controller is gone.');
  await alone.array.snapshots.delete([row!.name], 'tester');
  assert.deepEqual(alone.names(), []);
  assert.equal(alone.engine.snapshots.size, 1);
  alone.engine.deleteFailure = undefined;
  await alone.restart();
  await until(() => alone.engine.snapshots.size === 0);
});

test('a deletion the engine refuses changes nothing', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const [row] = await alone.array.snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  alone.engine.deleteFailure = new EngineError('conflict', 'Not now.');
  await assert.rejects(alone.array.snapshots.delete([row!.name], 'tester'), { message: 'Not now.' });
  assert.deepEqual(alone.names(), ['one']);
});

test('those a mirror took are found by its job', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { snapshots } = alone.array;
  await snapshots.take([volume], { ...USER, displayName: 'mine' }, 'tester');
  const naming = { displayName: 'its', application: 'mirror', mirrorJob: 'srcjarray-00000001' } as const;
  await snapshots.take([volume], naming, 'system');
  const filters = [{ mirrorJob: 'srcjarray-00000001' }, { application: 'mirror' }];
  for (const filter of filters) {
    const found = snapshots.listOfGroup(volume.consistencyGroup, { ...filter, start: 0, limit: 0 });
    assert.deepEqual(
      found.snapshots.map(({ displayName }) => displayName),
      ['its'],
    );
  }
});

test('when one of several cannot be taken, none is, and nothing is left', async (t) => {
  const alone = await snapshotsAlone(t);
  const volumes = [await alone.volume('a'), await alone.volume('b')];
  alone.engine.broken.add(volumes[1]!.name);
  await assert.rejects(alone.array.snapshots.take(volumes, { ...USER, displayName: 'both' }, 'tester'));
  assert.deepEqual(alone.names(), []);
  assert.equal(alone.array.store.read((db) => db.all('SELECT 1 FROM snapshots')).length, 0);
});

test('a clone of present data leaves no snapshot behind, even when it fails or a crash comes', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { clones, volumes } = alone.array;
  const clone = await clones.clone(volume.consistencyGroup, 'copy', undefined, 'tester');
  assert.equal(volumes.byGroup(clone.consistencyGroup).displayName, 'copy');
  await assert.rejects(clones.clone(volume.consistencyGroup, 'copy', undefined, 'tester'), { entry: 'name_taken' });
  assert.equal(alone.engine.snapshots.size, 0);

  const cut = Promise.withResolvers<undefined>();
  alone.engine.afterTake = () => cut.promise;
  const lost = clones.clone(volume.consistencyGroup, 'another', undefined, 'tester').catch(() => undefined);
  await until(() => alone.engine.snapshots.size === 1);
  alone.engine.afterTake = undefined;
  const { store } = await alone.restart();
  await until(
    () => alone.engine.snapshots.size === 0 && store.read((db) => db.all('SELECT 1 FROM snapshots')).length === 0,
  );
  cut.resolve(undefined);
  await lost;
});

test('a snapshot is not deleted while it is being cloned', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { snapshots } = alone.array;
  const [row] = await snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  const cloning = Promise.withResolvers<undefined>();
  const work = snapshots.using(row!.name, () => cloning.promise);
  await assert.rejects(snapshots.remove(row!.name, 'tester'), { entry: 'state_conflict', message: /being cloned/ });
  const deletion = snapshots.delete([row!.name], 'tester');
  cloning.resolve(undefined);
  await Promise.all([work, deletion]);
  assert.equal(alone.engine.snapshots.size, 0);
});

test('in an emergency the oldest snapshots of that pool go, but none that a mirror needs', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { snapshots, store } = alone.array;
  for (const displayName of ['first', 'second', 'third']) {
    await snapshots.take([volume], { ...USER, displayName }, 'tester');
    alone.clock.advance(1000);
  }
  const { name } = snapshots.list({ start: 0, limit: 1 }).snapshots[0]!;
  await store.write((tx) =>
    tx.run(
      `INSERT INTO source_mirrors (name, display_name, state, volume, cg_name, cg_display_name, pool_display_name,
         remote_array, remote_uuid, remote_display_name, remote_provider, remote_pool, remote_volume, base,
         created_at, modified_at)
       VALUES ('srcjarray-00000001', 'm', 'active', :volume, '', '', '', '', '', '', '', '', '', :name, 0, 0)`,
      { volume: volume.name, name },
    ),
  );
  await assert.rejects(snapshots.remove(name, 'tester'), { entry: 'state_conflict', message: /srcjarray-00000001/ });
  assert.equal(await snapshots.deleteOldest('pool-99999999'), false);
  assert.equal(await snapshots.deleteOldest(volume.pool), true);
  assert.deepEqual(alone.names(), ['first', 'third']);
  assert.equal(await snapshots.deleteOldest(volume.pool), true);
  assert.equal(await snapshots.deleteOldest(volume.pool), false);
  assert.deepEqual(alone.names(), ['first']);
});

test('a volume has a limit of snapshots', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  await alone.array.store.write((tx) => {
    for (let n = 0; n < 10_000; n += 1) insertSnapshot(tx, rowOf(volume.name, n));
  });
  const taken = alone.array.snapshots.take([volume], { ...USER, displayName: 'one too many' }, 'tester');
  await assert.rejects(taken, { entry: 'limit_reached', message: /10000/ });
  await alone.array.snapshots.delete(['snap-f0000000'], 'tester');
  await alone.array.snapshots.take([volume], { ...USER, displayName: 'the last' }, 'tester');
});

test('taking a snapshot costs the same with many of them there', async (t) => {
  const alone = await snapshotsAlone(t);
  const volumes = await Promise.all(Array.from({ length: 10 }, (_, n) => alone.volume(`v${n}`)));
  const { snapshots, store } = alone.array;
  let taken = 0;
  const takeSome = async () => {
    for (let n = 0; n < 10; n += 1) {
      const some = Array.from({ length: 20 }, () => {
        taken += 1;
        return snapshots.take([volumes[taken % 10]!], { ...USER, displayName: `s${taken}` }, 'tester');
      });
      await Promise.all(some);
    }
  };
  await takeSome();
  const few = Math.min(await cpuMs(takeSome), await cpuMs(takeSome));
  await store.write((tx) => {
    for (let n = 0; n < 90_000; n += 1) insertSnapshot(tx, rowOf(volumes[n % 10]!.name, n));
  });
  await takeSome();
  const many = Math.min(await cpuMs(takeSome), await cpuMs(takeSome));
  t.diagnostic(`${few} ms with few, ${many} ms with many`);
  assert.ok(many < few * 1.5, `${many} ms instead of ${few} ms`);
});

function rowOf(volume: Snapshot['volume'], n: number): Snapshot {
  return {
    name: `snap-f${n.toString(16).padStart(7, '0')}`,
    displayName: `old ${n}`,
    volume,
    sizeBytes: bytes(1),
    application: 'user',
    rule: null,
    policy: null,
    mirrorJob: null,
    state: 'ready',
    createdAt: n,
    modifiedAt: n,
  };
}

test('while a volume is restored it is left alone, and a restore that a crash cut off is finished', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { restores, snapshots } = alone.array;
  const [target] = await snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  const wanted = { snapshot: 'one', isForced: false };
  const asked: (string | undefined)[] = [];
  const cut = Promise.withResolvers<undefined>();
  alone.engine.onRevert = (snapshot, unlessSince) => {
    asked.push(snapshot, unlessSince);
    return cut.promise.then(() => {
      throw new EngineError('interrupted', 'The controller is gone.');
    });
  };
  const { safety } = await restores.start(volume.name, wanted, 'tester');
  await until(() => asked.length === 2);
  const busy = { entry: 'state_conflict', message: /being restored/ };
  await assert.rejects(restores.start(volume.name, wanted, 'tester'), busy);
  for (const name of [target!.name, safety]) await assert.rejects(snapshots.remove(name, 'tester'), busy);
  await assert.rejects(snapshots.take([volume], { ...USER, displayName: 'two' }, 'tester'), busy);
  assert.equal(await snapshots.deleteOldest(volume.pool), false);
  cut.resolve(undefined);
  const closing = alone.restart();
  alone.engine.onRevert = (snapshot, unlessSince) => void asked.push(snapshot, unlessSince);
  const { volumes } = await closing;
  alone.clock.advance(2_000);
  await until(() => volumes.get(volume.name).restoring === null);
  assert.deepEqual(asked.slice(0, 4), [target!.name, safety, target!.name, safety]);
  assert.notEqual(volumes.get(volume.name).restoredAt, null);
  assert.deepEqual(alone.names(), ['one', 'Before restore of one']);
});

test('a restore that the engine cannot do leaves the volume as it was and says why', async (t) => {
  const alone = await snapshotsAlone(t);
  const volume = await alone.volume('data');
  const { restores, snapshots, jobs, volumes } = alone.array;
  await snapshots.take([volume], { ...USER, displayName: 'one' }, 'tester');
  alone.engine.onRevert = () => {
    throw new EngineError('failed', 'The pool cannot be read.');
  };
  const { job } = await restores.start(volume.name, { snapshot: 'one', isForced: false }, 'tester');
  assert.equal((await jobs.wait(job, -1))?.error, 'The pool cannot be read.');
  assert.deepEqual([volumes.get(volume.name).restoring, volumes.get(volume.name).restoredAt], [null, null]);
  assert.match(alone.array.titles().at(-1) ?? '', /could not be restored \(The pool cannot be read/);
});
