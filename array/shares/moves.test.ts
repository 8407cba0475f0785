import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { bytes } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { arrayApi } from '@granary/contract/array';
import { volumesAlone, wantedVolume } from '../volumes/testing/volumes-alone.ts';
import { VolumeWatch } from '../volumes/watch.ts';
import { testArray } from '../testing/test-array.ts';
import { GB } from '../units.ts';
import { defaultOptions } from './options.ts';
import { mountShare } from './testing/mount.ts';

const { volumes, servers, consistencyGroups, settings } = arrayApi.groups;

test('a share moves to another pool while it is used, survives a failover and a lock, and what it did is measured', async (t) => {
  const array = await testArray(t);
  const { client } = array;
  const [from, to] = [await array.pool(), await array.pool()];
  await client.call(settings.setEncryptionPassword, { encryption_pwd: 'correct horse battery' });
  const id = await array.volume(from, { name: 'reports', block: false, crypt: true });
  const server = (await client.call(servers.create, { display_name: 'web', iscsi: '127.0.0.0/8' })).server_name;
  await client.call(servers.attachVolumes, { id: [server], volume_name: [id] });
  const files = await mountShare(t, array, 'reports');
  const text = randomBytes(100_000).toString('hex');
  await files.write('f', text);
  const { cg_name } = (await client.call(volumes.get, { id })).volume;
  await client.call(consistencyGroups.migrate, { volume_cg_id: cg_name, poolname: to });
  await until(async () => (await client.call(volumes.get, { id })).volume.pool_name === to, 'the end of the move');
  await files.write('g', 'after the move');
  assert.equal((await files.attributes('f')).size, text.length);
  await client.call(arrayApi.groups.controllers.failover, {});
  const again = await mountShare(t, array, 'reports');
  assert.equal(await again.read('g'), 'after the move');
  await array.restart();
  const locked = (await client.call(volumes.get, { id })).volume;
  assert.deepEqual([locked.status, locked.num_of_filesystem_objects], ['Locked', null]);
  await client.call(settings.restoreEncryption, { encryption_pwd: 'correct horse battery' });
  assert.equal(await (await mountShare(t, array, 'reports')).read('g'), 'after the move');
  await until(async () => (await client.call(volumes.performance, { id, interval: 1 })).count > 0, 'a point');
});

test('a share expands by itself as its filesystem runs full, whatever its volume holds', async (t) => {
  const { array, engine } = await volumesAlone(t);
  const share = { options: defaultOptions };
  const grown = { expandsItself: true, expandByBytes: bytes(2 ** 30), share };
  const { name } = await array.volumes.create(wantedVolume('reports', grown), 'dana');
  const watch = new VolumeWatch(array, (id, sizeBytes) => array.volumes.expandTo(id, sizeBytes, 'system'));
  const check = async (atMs: number, availableBytes: number) => {
    const figures = { ...engine.volumes.get(name)!.share!, availableBytes };
    engine.set(name, { ownBytes: 9 * GB, snapshotBytes: 50 * GB, share: figures });
    await array.readings.refresh();
    await watch.check(atMs);
    const { sizeBytes: size, capacityMode: mode } = array.volumes.get(name);
    return [size / GB, mode];
  };
  assert.deepEqual(await check(0, 5 * GB), [10, 'normal']);
  assert.deepEqual(await check(5_000, GB / 2), [11, 'emergency']);
  assert.deepEqual(await check(10_000, 2 * GB), [11, 'normal']);
  engine.set(name, { share: null });
  await array.readings.refresh();
  await watch.check(15_000);
  assert.equal(array.volumes.get(name).capacityMode, 'normal', 'nothing is known of a share that is not mounted');
});
