import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { mountShare, writeFile } from '../testing/test-share.ts';
import { MB } from '../units.ts';

const { snapshots, volumes, servers, messages } = arrayApi.groups;
const NOT_FOUND = 10083;
const ATTACHED = /attached to .*; detach it first, or use force=YES/;

async function setUp(t: TestContext, wanted: Record<string, unknown> = {}) {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const id = await array.volume(await array.pool(), { name: 'books', ...wanted });
  const { cg_name: volume_cg_id } = (await client.call(volumes.get, { id })).volume;
  const take = async (display_name: string) =>
    (await client.call(snapshots.create, { volume_cg_id, display_name })).snapshot_name;
  const names = async () =>
    (await client.call(snapshots.listOfGroup, { volume_cg_id })).snapshots.map(({ display_name }) => display_name);
  return { array, client, id, take, names };
}

test('a volume goes back to a snapshot by its name, and back again to what it held before', async (t) => {
  const { array, client, id, take, names } = await setUp(t);
  const disk = await testDisk(t, array, id);
  const [before, after] = [randomBytes(2 * MB), randomBytes(2 * MB)];
  await disk.write(0, before);
  const snapshot = await take('before lunch');
  await disk.write(0, after);
  await client.call(volumes.expand, { id, capacity: 1 });
  await disk.lun.clearUnitAttentions();

  const attached = await client.refused(volumes.restore, { id, snapshot });
  assert.match(attached.message, ATTACHED);
  assert.deepEqual(await names(), ['before lunch'], 'a refusal takes no snapshot');

  const forced = { id, snapshot: 'before lunch', force: true, timeout: -1 };
  const { snapshot_name: safety } = await client.call(volumes.restore, forced);
  assert.deepEqual(await disk.read(0, 2), before);
  assert.deepEqual(await names(), ['before lunch', 'Before restore of before lunch']);
  const { volume } = await client.call(volumes.get, { id });
  assert.deepEqual([volume.virtual_capacity > 1, volume.status], [true, 'In-use'], 'it keeps its size');
  await disk.write(1000, randomBytes(MB));

  const { servers: having } = await client.call(volumes.listServers, { id });
  await client.call(volumes.detach, { id, servers: having.map(({ name }) => name) });
  await client.call(volumes.restore, { id, snapshot: safety, timeout: -1 });
  await client.call(servers.attachVolumes, { id: [having[0]!.name], volume_name: [id] });
  await disk.login(t);
  assert.deepEqual(await disk.read(0, 2), after);
  const { messages: reported } = await client.call(messages.list, {});
  assert.ok(
    reported.some(({ msg_title }) =>
      msg_title.startsWith(`Volume books (${id}) was restored to snapshot before lunch`),
    ),
  );
});

test('only a snapshot of the volume itself is restored', async (t) => {
  const { array, client, id, take, names } = await setUp(t);
  await take('mine');
  const pool = (await client.call(volumes.get, { id })).volume.pool_name;
  const other = await array.volume(pool);
  const { cg_name } = (await client.call(volumes.get, { id: other })).volume;
  const { snapshot_name: foreign } = await client.call(snapshots.create, {
    volume_cg_id: cg_name,
    display_name: 'foreign',
  });
  for (const snapshot of [foreign, 'foreign', 'snap-ffffffff'])
    assert.equal((await client.refused(volumes.restore, { id, snapshot })).code, NOT_FOUND);
  assert.deepEqual(await names(), ['mine']);
});

test('a share goes back to a snapshot while clients have it mounted, by force only', async (t) => {
  const { array, client, id, take } = await setUp(t, { block: 'NO' });
  const mount = await mountShare(t, array, id);
  const file = await writeFile(mount, 'plan', Buffer.from('as it was'));
  const snapshot = await take('before');
  assert.equal((await mount.write(file, 0, Buffer.from('as it is!'))).status, 0);
  assert.match((await client.refused(volumes.restore, { id, snapshot })).message, ATTACHED);
  await client.call(volumes.restore, { id, snapshot, force: true, timeout: -1 });
  assert.equal((await mount.read(file, 0, 100)).data.toString(), 'as it was');
});
