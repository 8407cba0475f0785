import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, mock } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { checkArray } from '../check/check-array.ts';
import { named } from '../drives/testing/drive-files.ts';
import { EngineError } from '../engine/errors.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { GB } from '../units.ts';
import { poolBench } from './testing/bench.ts';

const { pools, volumes, raidGroups, snapshots, drives, servers } = arrayApi.groups;
const CODES = { stateConflict: 10100, poolNotEmpty: 10102, volumeAttached: 10103, poolNotFound: 10080 };
const WANTED = { displayName: 'main', cache: false, cowCache: true, mode: 'simple', type: 'Balanced' } as const;

const recordOf = async ({ client }: TestArray, id: string) => (await client.call(pools.get, { id })).pool;

async function failGroup({ client }: TestArray, group: string): Promise<void> {
  await client.call(drives.takeOffline, { id: named(1), force: true });
  await client.call(drives.takeOffline, { id: named(2), force: true });
  await until(async () => {
    return (await client.call(raidGroups.get, { id: group })).raid_group.status === 'Failed';
  }, 'the group to fail');
}

describe('deleting a pool', { timeout: 120_000 }, () => {
  it('whose RAID group has failed is refused and changes nothing; by force it goes', async (t) => {
    const array = await testArray(t, { drives: 2 });
    const { client } = array;
    const group = await array.group();
    const id = await array.pool({ groups: [group] });
    await failGroup(array, group);
    const before = await recordOf(array, id);
    assert.equal(before.status, 'failed');
    const refused = await client.refused(pools.delete, { id });
    assert.equal(refused.code, CODES.stateConflict);
    assert.match(refused.message, /\(RaidGroup-1\) has failed.*force=YES/);
    assert.deepEqual(await recordOf(array, id), before);
    await array.restart();
    assert.equal((await recordOf(array, id)).status, 'failed', 'also after a restart');
    await client.call(pools.delete, { id, force: true });
    assert.equal((await client.refused(pools.get, { id })).code, CODES.poolNotFound);
    await client.call(raidGroups.delete, { id: group });
    await array.restart();
    assert.equal((await client.call(pools.list, {})).count, 0);
  });

  it('that is damaged takes its volumes along, but none that servers use; what is refused on the way is as before', async (t) => {
    const array = await testArray(t, { drives: 4 });
    const { client, configuration } = array;
    const group = await array.group();
    const id = await array.pool({ groups: [group] });
    const other = await array.pool();
    const kept = await array.volume(other);
    const volume = await array.volume(id);
    const { cg_name } = (await client.call(volumes.get, { id: volume })).volume;
    const { snapshot_name } = await client.call(snapshots.create, { volume_cg_id: cg_name, display_name: 'one' });
    assert.equal((await client.refused(pools.delete, { id, force: true })).code, CODES.poolNotEmpty);
    const { server_name: server } = await client.call(servers.create, {
      display_name: 's',
      iqn: 'iqn.2026-11.x:s',
    });
    await client.call(servers.attachVolumes, { id: [server], volume_name: [volume], access_type: 'ISCSI' });
    await failGroup(array, group);
    assert.match((await client.refused(pools.delete, { id })).message, /and its 1 volume with it with force=YES/);
    assert.equal((await client.refused(pools.delete, { id, force: true })).code, CODES.volumeAttached);
    await client.call(volumes.detach, { id: volume, servers: server } as never);

    await client.refused(snapshots.delete, { snapshot_id: snapshot_name });
    assert.equal((await client.call(snapshots.list, {})).count, 1);
    await client.refused(volumes.delete, { id: volume, force: true, timeout: -1 });
    assert.equal((await client.call(volumes.get, { id: volume })).volume.status, 'Available');

    await client.call(pools.delete, { id, force: true });
    const left = await client.call(volumes.list, {});
    assert.deepEqual(
      left.volumes.map(({ name }) => name),
      [kept],
    );
    assert.equal((await client.call(snapshots.list, {})).count, 0);
    await array.stop();
    const { problems } = await checkArray(configuration);
    assert.deepEqual(problems, []);
    await array.restart();
    assert.equal((await recordOf(array, other)).status, 'normal');
  });

  it('whose metadata cannot be read is refused, and done by force', async (t) => {
    const array = await testArray(t, { drives: 2 });
    const { client, configuration } = array;
    const id = await array.pool();
    await array.volume(id);
    await array.stop();
    writeFileSync(join(configuration.folder, 'pools', `${id}.db`), 'no metadata at all');
    await array.restart();
    assert.match((await client.refused(pools.delete, { id })).message, /its metadata cannot be read/);
    assert.equal((await recordOf(array, id)).status, 'failed');
    await client.call(pools.delete, { id, force: true });
    assert.equal((await client.call(volumes.list, {})).count, 0);
    assert.equal((await client.call(raidGroups.listFree, {})).count, 1);
  });

  it('leaves it as it was whenever the engine refuses, at once or after a crash', async () => {
    const bench = poolBench(10 * GB);
    const { name } = await bench.pools.create({ ...WANTED, groups: ['group-1'] }, 'ann');
    const before = bench.pools.get(name);
    const refuse = () => Promise.reject(new EngineError('conflict', 'Not now.'));
    mock.method(bench.tools.engine, 'deletePool', refuse);
    await assert.rejects(bench.pools.delete(name, false, 'ann'), /Not now/);
    assert.deepEqual(bench.pools.get(name), before);

    mock.method(bench.tools.engine, 'deletePool', () => new Promise<never>(() => undefined));
    void bench.pools.delete(name, false, 'ann');
    const states = () => bench.pools.list({ start: 0, limit: 0 }).pools.map(({ pool: row }) => row.state);
    await until(() => Promise.resolve(states().includes('deleting')), 'the mark');
    const again = bench.restart();
    mock.method(again.tools.engine, 'deletePool', refuse);
    await again.tools.readings.refresh();
    await again.pools.reconcile();
    assert.equal(again.pools.get(name).state, 'ready');
  });
});
