import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { snapshots, consistencyGroups, volumes, messages } = arrayApi.groups;
const BAD_PARAMETER = 7;
const NOT_FOUND = 10083;
const GROUP_NOT_FOUND = 10085;
const NAME_TAKEN = 10096;

async function setUp(t: TestContext) {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const pool = await array.pool({ name: 'main' });
  const volumeOf = async (wanted = {}) => {
    const id = await array.volume(pool, wanted);
    return (await client.call(volumes.get, { id })).volume;
  };
  const take = async (volume_cg_id: string, display_name: string) =>
    (await client.call(snapshots.create, { volume_cg_id, display_name })).snapshot_name;
  const names = async (volume_cg_id: string, filter = {}) => {
    const found = await client.call(snapshots.listOfGroup, { volume_cg_id, ...filter });
    assert.equal(found.count, found.snapshots.length);
    return found.snapshots.map(({ display_name }) => display_name);
  };
  return { array, client, pool, volumeOf, take, names };
}

test('a snapshot is on record at once, every field of it real', async (t) => {
  const { client, pool, volumeOf, take } = await setUp(t);
  const volume = await volumeOf({ name: 'reports', capacity: '150M' });
  const id = await take(volume.cg_name, 'before');
  const { snapshot } = await client.call(snapshots.get, { id });
  const { created_at, modified_at, ...rest } = snapshot;
  assert.deepEqual(rest, {
    name: id,
    display_name: 'before',
    status: 'normal',
    cg_name: volume.cg_name,
    cg_display_name: 'reports',
    pool_name: pool,
    volume_ext_name: volume.name,
    volume_display_name: 'reports',
    volume_capacity_mb: 150,
  });
  assert.ok(Math.abs(Date.parse(created_at.replace(' UTC', 'Z').replace(' ', 'T')) - Date.now()) < 60_000);
  assert.equal(modified_at, created_at);
  const { messages: reported } = await client.call(messages.list, {});
  assert.ok(
    reported.some(({ msg_title }) =>
      msg_title.startsWith(`Snapshot before (${id}) of volume reports (${volume.name})`),
    ),
  );
});

test('names are unique among the snapshots of a volume', async (t) => {
  const { client, volumeOf, take, names } = await setUp(t);
  const [a, b] = [await volumeOf(), await volumeOf()];
  const first = await take(a.cg_name, 'same');
  await take(b.cg_name, 'same');
  const again = { volume_cg_id: a.cg_name, display_name: 'same' };
  assert.equal((await client.refused(snapshots.create, again)).code, NAME_TAKEN);
  await take(a.cg_name, 'other');
  assert.equal((await client.refused(snapshots.rename, { id: first, newname: 'other' })).code, NAME_TAKEN);
  await client.call(snapshots.rename, { id: first, newname: 'renamed' });
  assert.deepEqual(await names(a.cg_name), ['renamed', 'other']);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => take(a.cg_name, 'one of ten')));
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('lists are paged and count all that match; what is not there is not found', async (t) => {
  const { client, volumeOf, take } = await setUp(t);
  const [a, b] = [await volumeOf(), await volumeOf()];
  for (const { cg_name } of [a, b]) for (const name of ['one', 'two', 'three']) await take(cg_name, name);
  const all = await client.call(snapshots.list, {});
  assert.deepEqual([all.count, all.snapshots.length], [6, 6]);
  const page = await client.call(snapshots.list, { start: 4, limit: 5 });
  assert.deepEqual([page.count, page.snapshots.length], [6, 2]);
  const some = await client.call(snapshots.listOfGroup, { volume_cg_id: a.cg_name, start: 1, limit: 1 });
  assert.deepEqual([some.count, some.snapshots[0]?.display_name], [3, 'two']);
  assert.equal((await client.refused(snapshots.get, { id: 'snap-ffffffff' })).code, NOT_FOUND);
  assert.equal((await client.refused(snapshots.delete, { snapshot_id: 'snap-ffffffff' })).code, NOT_FOUND);
  assert.equal((await client.refused(snapshots.listOfGroup, { volume_cg_id: 'cg-ffffffff' })).code, GROUP_NOT_FOUND);
  const id = all.snapshots[0]!.name;
  assert.deepEqual(await client.call(snapshots.delete, { snapshot_id: id }), { status: 0, snapshot_name: id });
  assert.equal((await client.refused(snapshots.delete, { snapshot_id: id })).code, NOT_FOUND);
  assert.equal((await client.call(snapshots.list, {})).count, 5);
});

test("a volume's list takes every filter", async (t) => {
  const { client, volumeOf, take, names } = await setUp(t);
  const { cg_name } = await volumeOf();
  await take(cg_name, 'mine');
  assert.deepEqual(await names(cg_name, { application: 'user' }), ['mine']);
  for (const application of ['mirror', 'migration', 'obs_mirror', 'shadow_copy']) {
    assert.deepEqual(await names(cg_name, { application }), []);
  }
  assert.deepEqual(await names(cg_name, { jobname: 'srcjarray-00000001' }), []);
  assert.deepEqual(await names(cg_name, { snapshot_policy: 'policy-00000001' }), []);
  const past = '01:01:26:00:00:00';
  const future = '31:12:98:23:59:59';
  assert.deepEqual(await names(cg_name, { start_date: past, end_date: future }), ['mine']);
  assert.deepEqual(await names(cg_name, { start_date: future }), []);
  assert.deepEqual(await names(cg_name, { end_date: past }), []);
  for (const bad of ['31:02:26:00:00:00', 'yesterday', '2026-01-01']) {
    const refused = await client.refused(snapshots.listOfGroup, { volume_cg_id: cg_name, start_date: bad });
    assert.equal(refused.code, BAD_PARAMETER);
    assert.match(refused.message, /start_date/);
  }
});

test('clones show what their snapshot showed, or the present data, and stay when it goes', async (t) => {
  const { array, client, volumeOf, take, names } = await setUp(t);
  const volume = await volumeOf({ name: 'source' });
  const disk = await testDisk(t, array, volume.name);
  const [before, after] = [randomBytes(4 * MB), randomBytes(4 * MB)];
  await disk.write(0, before);
  const snapshot = await take(volume.cg_name, 'before');
  await disk.write(0, after);
  const clone = async (name: string, more = {}) => {
    const input = { volume_cg_id: volume.cg_name, name, ...more };
    const { cg_name } = await client.call(consistencyGroups.clone, input);
    const found = await client.call(volumes.list, { display_name: name });
    assert.equal(found.volumes[0]!.cg_name, cg_name);
    return testDisk(t, array, found.volumes[0]!.name);
  };
  const [old, present] = [await clone('old', { snapshot }), await clone('present')];
  assert.deepEqual(await names(volume.cg_name), ['before']);
  assert.deepEqual(await old.read(0, 4), before);
  assert.deepEqual(await present.read(0, 4), after);
  await client.call(snapshots.delete, { snapshot_id: snapshot });
  const own = randomBytes(MB);
  await old.write(1, own);
  assert.deepEqual(await old.read(0, 4), Buffer.concat([before.subarray(0, MB), own, before.subarray(2 * MB)]));
  assert.deepEqual(await disk.read(0, 4), after);
  const other = await volumeOf();
  const foreign = await take(other.cg_name, 'foreign');
  const refused = (name: string, snapshotName: string | undefined) =>
    client.refused(consistencyGroups.clone, {
      volume_cg_id: volume.cg_name,
      name,
      ...(snapshotName !== undefined && { snapshot: snapshotName }),
    });
  assert.equal((await refused('wrong', foreign)).code, NOT_FOUND);
  assert.equal((await refused('old', undefined)).code, NAME_TAKEN);
});

test('snapshots and what they hold survive a restart', async (t) => {
  const { array, client, volumeOf, take, names } = await setUp(t);
  const volume = await volumeOf();
  const disk = await testDisk(t, array, volume.name);
  const before = randomBytes(2 * MB);
  await disk.write(0, before);
  const snapshot = await take(volume.cg_name, 'kept');
  await disk.write(0, randomBytes(2 * MB));
  await array.restart();
  assert.deepEqual(await names(volume.cg_name), ['kept']);
  const input = { volume_cg_id: volume.cg_name, name: 'restored', snapshot };
  await client.call(consistencyGroups.clone, input);
  const found = await client.call(volumes.list, { display_name: 'restored' });
  const restored = await testDisk(t, array, found.volumes[0]!.name);
  assert.deepEqual(await restored.read(0, 2), before);
});
