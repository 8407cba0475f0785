import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { awakeMs } from '../../testing/timing.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { snapshotSets, snapshots, volumes, servers, settings, messages } = arrayApi.groups;
const NAME_TAKEN = 10096;
const NOTHING = 10097;
const CONFLICT = 10100;
const ATTACHED = 10103;
const SET_NOT_FOUND = 10095;

async function setUp(t: TestContext) {
  const array = await testArray(t, { drives: 4 });
  const { client } = array;
  const make = async (name: string) => {
    const id = await array.volume(await array.pool(), { name });
    return (await client.call(volumes.get, { id })).volume;
  };
  const [a, b] = [await make('a'), await make('b')];
  const groups = [a.cg_name, b.cg_name];
  const suspend = (snapsetid: string) => client.call(snapshotSets.suspend, { snapsetid, cg: groups });
  const clone = async (name: string) => (await client.call(volumes.list, { display_name: name })).volumes[0];
  return { array, client, a, b, groups, suspend, clone };
}

test('writes are held until the set is taken, and the set has none of them', async (t) => {
  const { array, client, a, b, groups, suspend, clone } = await setUp(t);
  const disks = [await testDisk(t, array, a.name), await testDisk(t, array, b.name)];
  const before = [randomBytes(2 * MB), randomBytes(2 * MB)];
  await Promise.all(disks.map((disk, n) => disk.write(0, before[n]!)));
  await suspend('nightly');
  assert.equal((await client.refused(snapshotSets.suspend, { snapsetid: 'nightly', cg: groups })).code, NAME_TAKEN);
  assert.equal((await client.refused(snapshotSets.suspend, { snapsetid: 'other', cg: [a.cg_name] })).code, CONFLICT);
  const written: number[] = [];
  const late = randomBytes(2 * MB);
  const writes = disks.map(async (disk, n) => {
    await disk.write(0, late);
    written.push(n);
  });
  await sleep(300);
  assert.deepEqual(written, []);
  // Reads go on.
  assert.deepEqual(await disks[0]!.read(0, 1), before[0]!.subarray(0, MB));
  const taken = await client.call(snapshotSets.createAndResume, { snapsetid: 'nightly' });
  assert.equal(taken.snapshot_set_name, 'nightly');
  await Promise.all(writes);
  const found = await client.call(snapshots.listOfGroup, { volume_cg_id: a.cg_name, application: 'shadow_copy' });
  assert.deepEqual(
    found.snapshots.map(({ display_name }) => display_name),
    ['nightly'],
  );
  assert.equal((await client.refused(snapshotSets.createAndResume, { snapsetid: 'nightly' })).code, CONFLICT);

  await client.call(snapshotSets.clone, { snapsetid: 'nightly' });
  assert.equal((await client.refused(snapshotSets.clone, { snapsetid: 'nightly' })).code, CONFLICT);
  for (const [n, name] of ['a-nightly', 'b-nightly'].entries()) {
    const disk = await testDisk(t, array, (await clone(name))!.name);
    assert.deepEqual(await disk.read(0, 2), before[n]);
  }
  assert.deepEqual(await disks[0]!.read(0, 2), late);
});

test('a client that takes too long does not hold writes for ever', async (t) => {
  const { array, client, a, suspend } = await setUp(t);
  await client.call(settings.update, { suspend_seconds: 1 });
  const disk = await testDisk(t, array, a.name);
  const began = Date.now();
  const waited = await awakeMs(async () => {
    await suspend('slow');
    await disk.write(0, randomBytes(MB));
  });
  assert.ok(Date.now() - began > 900 && waited < 5_000, String(waited));
  await until(async () => {
    const { messages: reported } = await client.call(messages.list, {});
    return reported.some(({ msg_title }) => /Snapshot set slow was cancelled/.test(msg_title));
  }, 'it is reported');
  const refused = await client.refused(snapshotSets.createAndResume, { snapsetid: 'slow' });
  assert.equal(refused.code, CONFLICT);
  assert.match(refused.message, /let go/);
  assert.equal((await client.call(snapshots.list, {})).count, 0);
  // The name is free again.
  await suspend('slow');
  await client.call(snapshotSets.cancelSuspend, { snapsetid: 'slow' });
  assert.equal((await client.refused(snapshotSets.cancelSuspend, { snapsetid: 'never' })).code, SET_NOT_FOUND);
});

test('a cancelled set lets writes go and leaves nothing; after a restart nothing is held', async (t) => {
  const { array, client, a, suspend } = await setUp(t);
  const disk = await testDisk(t, array, a.name);
  await suspend('given up');
  const write = disk.write(0, randomBytes(MB));
  await client.call(snapshotSets.cancelSuspend, { snapsetid: 'given up' });
  await write;
  assert.equal((await client.call(snapshots.list, {})).count, 0);
  await suspend('cut off');
  await array.restart();
  assert.equal((await client.refused(snapshotSets.createAndResume, { snapsetid: 'cut off' })).code, SET_NOT_FOUND);
  await disk.login(t);
  await disk.write(0, randomBytes(MB));
});

test('clones of a set are deleted together, the set without them', async (t) => {
  const { client, suspend, clone } = await setUp(t);
  await suspend('set');
  await client.call(snapshotSets.createAndResume, { snapsetid: 'set' });
  const snapsetid = 'set';
  assert.equal((await client.refused(snapshotSets.deleteClone, { snapsetid })).code, NOTHING);
  await client.call(snapshotSets.clone, { snapsetid });
  const volume = (await clone('a-set'))!;
  const { server_name } = await client.call(servers.create, { display_name: 's', iqn: 'iqn.2026-01.org.example:s' });
  await client.call(servers.attachVolumes, { id: [server_name], volume_name: [volume.name] });
  assert.equal((await client.refused(snapshotSets.deleteClone, { snapsetid })).code, ATTACHED);
  assert.ok(await clone('b-set'));
  await client.call(volumes.detach, { id: volume.name, servers: [server_name] });
  await client.call(snapshotSets.deleteClone, { snapsetid });
  assert.equal((await client.refused(snapshotSets.deleteClone, { snapsetid })).code, NOTHING);
  await client.call(snapshotSets.clone, { snapsetid });
  await client.call(snapshotSets.delete, { snapsetid });
  assert.equal((await client.call(snapshots.list, {})).count, 0);
  assert.ok(await clone('a-set'));
  assert.equal((await client.refused(snapshotSets.delete, { snapsetid })).code, SET_NOT_FOUND);
});
