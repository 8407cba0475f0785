import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { volumes, servers, settings, consistencyGroups, messages, snapshots, pools, snapshotPolicies } = arrayApi.groups;
const SHOWN_SUBMITTED = 1073751835;

async function setUp(t: TestContext, changes = {}) {
  const array = await testArray(t, changes);
  const pool = await array.pool({ name: 'main' });
  const { client } = array;
  const get = async (id: string) => (await client.call(volumes.get, { id })).volume;
  const server = async (name: string) => {
    const input = { display_name: name, iqn: `iqn.2026-03.org.example:${name}` };
    return (await client.call(servers.create, input)).server_name;
  };
  const attach = (volume: string, to: string) =>
    client.call(servers.attachVolumes, { id: to, volume_name: volume } as never);
  const titles = async (id: string) => {
    const { messages: found } = await client.call(messages.list, {});
    return found.map(({ msg_title }) => msg_title).filter((title) => title.includes(`(${id})`));
  };
  return { array, client, pool, get, server, attach, titles };
}

test('a new volume is on record at once, every field of it real', async (t) => {
  const { client, pool, get, array, titles } = await setUp(t);
  const input = { name: 'reports', capacity: '1536M', pool, read_iops_capping: 500, autoexpand: 'YES' };
  const { vol_name: id } = await client.call(volumes.create, {
    ...input,
    autoexpandby: '1G',
    maxcapacity: '4G',
    // The defaults of a share: no reason to refuse.
    readaheadkb: '16',
  } as never);
  const volume = await get(id);
  assert.match(volume.name, /^volume-[0-9a-f]{8}$/);
  assert.match(volume.cg_name, /^cg-[0-9a-f]{8}$/);
  assert.partialDeepStrictEqual(volume, {
    display_name: 'reports',
    cg_display_name: 'reports',
    pool_name: pool,
    pool_display_name: 'main',
    status: 'Available',
    data_type: 'BLOCK',
    thin: 'YES',
    encryption: 'NO',
    encryption_key_size: '0',
    virtual_capacity: 1.5,
    provisioned_capacity: 1.5,
    total_capacity: 1.5,
    available_capacity: 1.5,
    allocated_capacity: 0,
    data_copies_capacity: 0,
    server_name: null,
    server_ext_names: '',
    target: null,
    lun: null,
    has_snapshots: 'NO',
    has_mirror: 'NO',
    compress: 'NO',
    dedupe: 'NO',
    read_iops_capping: '500',
    write_iops_capping: '0',
    auto_expand_on_emergency: 'YES',
    auto_expand_by: 1,
    max_capacity: 4,
    thresholds: null,
    read_ahead_kb: null,
    uquota_state: 'off',
    capacity_mode: 'normal',
  });
  assert.match(volume.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
  assert.deepEqual(await titles(id), [`Volume reports (${id}) was created: 1.5 GiB in pool main.`]);
  await array.restart();
  const { modified_at: _, ...after } = await get(id);
  assert.partialDeepStrictEqual(volume, after);
});

test('what a volume cannot be is refused with the reason, and changes nothing', async (t) => {
  const { client, pool } = await setUp(t);
  const good = { name: 'data', capacity: '100M', pool };
  const refused = async (changes: object, code: number, words: RegExp) => {
    const failure = await client.refused(volumes.create, { ...good, ...changes } as never);
    assert.equal(failure.code, code, failure.message);
    assert.match(failure.message, words);
  };
  await refused({ readaheadkb: '64' }, 7, /readaheadkb is for file shares/);
  await refused({ nfsrootsquash: 'YES' }, 7, /nfsrootsquash is for file shares/);
  await refused({ smbhiddenfiles: '/*.tmp/' }, 7, /smbhiddenfiles is for file shares/);
  await refused({ export_name: 'data' }, 7, /export_name is for file shares/);
  await refused({ flcenabled: 'YES' }, 7, /flcenabled is for file shares/);
  await refused({ pool: 'pool-00000099' }, 10080, /Pool pool-00000099/);
  await refused({ capacity: '0G' }, 7, /capacity/);
  await refused({ capacity: '9999T' }, 7, /capacity/);
  await refused({ capacity: 'much' }, 7, /capacity/);
  await refused({ name: ' ' }, 7, /name/);
  await refused({ crypt: 'YES' }, 10108, /set one in the encryption settings/);
  await refused({ autoexpand: 'YES' }, 7, /autoexpandby must be sent/);
  await refused({ maxcapacity: '50M' }, 7, /maxcapacity must be at least/);
  assert.equal((await client.call(volumes.list, {})).count, 0);
  assert.equal((await client.refused(volumes.get, { id: 'volume-00000099' })).code, 10081);
});

test('of twenty who want one name at once, one gets it', async (t) => {
  const { client, pool } = await setUp(t);
  const input = { name: 'mine', capacity: '100M', pool } as never;
  const made = await Promise.allSettled(Array.from({ length: 20 }, () => client.call(volumes.create, input)));
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal((await client.refused(volumes.create, input)).code, 10096);
  const { volumes: found, count } = await client.call(volumes.list, {});
  assert.deepEqual([found.length, count], [1, 1]);
});

test('lists are paged and filtered, and count all that match', async (t) => {
  const { array, client, pool, server, attach } = await setUp(t);
  const names = ['alpha 1', 'beta 1', 'alpha 2', 'beta 2', 'alpha 3'];
  const ids: string[] = [];
  for (const name of names) ids.push(await array.volume(pool, { name }));
  const shown = async (input: object) => {
    const { volumes: found, count } = await client.call(volumes.list, input);
    return [found.map(({ display_name }) => display_name), count];
  };
  assert.deepEqual(await shown({}), [names, 5]);
  assert.deepEqual(await shown({ start: 1, limit: 2 }), [['beta 1', 'alpha 2'], 5]);
  assert.deepEqual(await shown({ start: 1, limit: 2 }), [['beta 1', 'alpha 2'], 5], 'asked again');
  assert.deepEqual(await shown({ display_name: 'alpha', limit: 2 }), [['alpha 1', 'alpha 2'], 3]);
  assert.deepEqual(await shown({ showonlyblock: 'YES' }), [names, 5]);
  assert.deepEqual(await shown({ showonlyfile: 'YES' }), [[], 0]);
  await client.call(volumes.rename, { id: ids[1]!, new_name: 'gamma' });
  assert.deepEqual(
    await shown({ start: 1, limit: 2 }),
    [['gamma', 'alpha 2'], 5],
    'a kept page does not outlive a change',
  );
  await attach(ids[0]!, await server('web'));
  const free = await client.call(volumes.listFree, { limit: 2 });
  assert.deepEqual([free.volumes.map(({ display_name }) => display_name), free.count], [['gamma', 'alpha 2'], 4]);
});

test('an attached volume says to whom, by which target and LUN, and is neither changed nor deleted by mistake', async (t) => {
  const { array, client, pool, get, server, attach } = await setUp(t);
  const id = await array.volume(pool);
  const [web, db] = [await server('web'), await server('db')];
  await attach(id, web);
  await client.call(servers.attachVolumes, { id: db, volume_name: id, force: 'YES' } as never);
  const volume = await get(id);
  assert.partialDeepStrictEqual(volume, {
    status: 'In-use',
    access_type: 'ISCSI',
    lun: 0,
    read_only: 'NO',
    server_name: web,
    server_ext_names: `${web},${db}`,
  });
  assert.match(volume.target ?? '', /^iqn\./);
  const { servers: found, count } = await client.call(volumes.listServers, { id });
  assert.deepEqual([found.map(({ name }) => name), count], [[web, db], 2]);
  const undeleted = await client.refused(volumes.delete, { id });
  assert.deepEqual([undeleted.code, /detach it first\.$/.test(undeleted.message)], [10103, true]);
  const change = { id, read_iops_capping: 100 };
  const unchanged = await client.refused(volumes.update, change);
  assert.deepEqual([unchanged.code, /or use force=YES\.$/.test(unchanged.message)], [10103, true]);
  await client.call(volumes.update, { ...change, force: true });
  assert.equal((await get(id)).read_iops_capping, '100');
  await client.call(volumes.setPermissions, { id, server_name: web, read_only: true });
  assert.equal((await get(id)).read_only, 'YES');
  await client.call(volumes.detach, { id, servers: `${web},${db}` } as never);
  assert.partialDeepStrictEqual(await get(id), { status: 'Available', server_ext_names: '', lun: null });
});

test('a volume grows by what is asked, by everyone who asks, up to its limit', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const id = await array.volume(pool, { capacity: '1G', maxcapacity: '8G' });
  await Promise.all(Array.from({ length: 6 }, () => client.call(volumes.expand, { id, capacity: '1G' } as never)));
  assert.equal((await get(id)).virtual_capacity, 7);
  const failure = await client.refused(volumes.expand, { id, capacity: '2G' } as never);
  assert.deepEqual([failure.code, /at most 8 GiB/.test(failure.message)], [10200, true]);
  const other = await array.volume(pool);
  assert.equal((await client.refused(volumes.expand, { id: other, capacity: '1024T' } as never)).code, 10200);
  await array.restart();
  assert.equal((await get(id)).total_capacity, 7);
});

test('a change that asks for a file lifecycle command it cannot have changes nothing', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const block = await array.volume(pool, { name: 'blocks' });
  const wanted = { mtr_histograms: true, read_iops_capping: 7 };
  const refused = await client.refused(volumes.update, { id: block, ...wanted, flcenabled: 'enable' });
  assert.deepEqual([refused.code, /flcenabled is for file shares/.test(refused.message)], [7, true]);
  assert.partialDeepStrictEqual(await get(block), { mtr_histograms: 'NO', read_iops_capping: '0' });
  const share = await array.volume(pool, { name: 'files', block: 'NO', capacity: '64M' });
  const paused = await client.refused(volumes.update, { id: share, mtr_histograms: true, flcenabled: 'resume' });
  assert.match(paused.message, /flcenabled=resume needs it to be paused/);
  assert.equal((await get(share)).mtr_histograms, 'NO');
});

test('notes, names, thresholds and protection change part by part', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const id = await array.volume(pool, { name: 'one', capacity: '2G' });
  await array.volume(pool, { name: 'two' });
  assert.equal((await client.refused(volumes.rename, { id, new_name: 'two' })).code, 10096);
  await client.call(volumes.rename, { id, new_name: 'uno' });
  await client.call(volumes.updateComment, { id, new_comment: 'Quarterly' });
  await client.call(volumes.updatePerformanceThresholds, { id, read_iops_limit: 10, write_latency_limit: 30 });
  await client.call(volumes.updatePerformanceThresholds, { id, write_mbps_limit: 20 });
  await client.call(volumes.updateProtection, { id, alertmode: 90, emergencymode: 2 });
  await client.call(volumes.updateProtection, { id, capacityhistory: 30 });
  await client.call(volumes.update, { id, mtr_histograms: true });
  assert.partialDeepStrictEqual(await get(id), {
    display_name: 'uno',
    comment: 'Quarterly',
    read_iops_limit: '10',
    write_mbps_limit: '20',
    thresholds: '{"read_latency_limit":0,"write_latency_limit":30}',
    alert_mode: 90,
    emergency_mode_mb: 2048,
    capacity_history: 30,
    mtr_histograms: 'YES',
  });
  const refused = await client.refused(volumes.updateProtection, { id, maxcapacity: '1G' } as never);
  assert.deepEqual([refused.code, /maxcapacity/.test(refused.message)], [7, true]);
  await client.call(volumes.updateComment, { id, new_comment: '' });
  assert.equal((await get(id)).comment, null);
});

test('reduction is what the array is set to unless asked for, and each is switched by itself', async (t) => {
  const { array, client, pool, get } = await setUp(t, { dataReduction: true });
  const usual = await array.volume(pool);
  const plain = await array.volume(pool, { compress: 'NO', dedupe: 'NO' });
  assert.partialDeepStrictEqual(await get(usual), { compress: 'YES', dedupe: 'YES' });
  assert.partialDeepStrictEqual(await get(plain), { compress: 'NO', dedupe: 'NO' });
  await client.call(volumes.update, { id: usual, dedupe: false });
  assert.partialDeepStrictEqual(await get(usual), { compress: 'YES', dedupe: 'NO' });
  await client.call(volumes.update, { id: plain, compress: true });
  assert.partialDeepStrictEqual(await get(plain), { compress: 'YES', dedupe: 'NO' });
});

async function testSwitchedOn(t: TestContext, option: 'compress' | 'dedupe'): Promise<void> {
  const { array, client, pool, get, titles } = await setUp(t);
  const id = await array.volume(pool);
  const disk = await testDisk(t, array, id);
  const bytes = Buffer.alloc(8 * MB, 'a');
  await disk.write(1, bytes);
  assert.partialDeepStrictEqual(await get(id), { allocated_capacity: 8 / 1024, compress: 'NO', dedupe: 'NO' });
  await client.call(volumes.update, { id, [option]: 'YES', force: 'YES' } as never);
  const isReduced = (title: string): boolean => title.includes('is reduced now');
  await until(async () => (await titles(id)).some(isReduced));
  await until(async () => (await get(id)).allocated_capacity === 1 / 1024);
  assert.equal((await get(id))[option], 'YES');
  assert.deepEqual(await disk.read(1, 8), bytes);
  // New writes are reduced at once.
  await disk.write(9, bytes);
  await until(async () => (await get(id)).allocated_capacity <= 2 / 1024);
  await array.restart();
  assert.partialDeepStrictEqual(await get(id), { [option]: 'YES' });
}

test('compress is switched on for a volume made without, whose data is then reduced while servers use it', (t) => {
  return testSwitchedOn(t, 'compress');
});

test('dedupe is switched on for a volume made without, whose data is then reduced while servers use it', (t) => {
  return testSwitchedOn(t, 'dedupe');
});

test('allocated capacity counts each place once, over volumes, snapshots and clones', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const id = await array.volume(pool);
  const disk = await testDisk(t, array, id);
  await disk.write(0, Buffer.alloc(4 * MB, 'a'));
  const { cg_name } = await get(id);
  const { snapshot_name } = await client.call(snapshots.create, { volume_cg_id: cg_name, display_name: 'before' });
  await disk.write(0, Buffer.alloc(MB, 'b'));
  const clone = { volume_cg_id: cg_name, name: 'copy', snapshot: snapshot_name };
  await client.call(consistencyGroups.clone, clone);
  const shown = async () => {
    const { volumes: all } = await client.call(volumes.list, {});
    return all.map(({ allocated_capacity: allocated, data_copies_capacity: copies }) => [allocated, copies]);
  };
  const wanted = [
    [5 / 1024, 4 / 1024],
    [0, 0],
  ];
  await until(async () => isDeepStrictEqual(await shown(), wanted));
});

test('a volume is deleted for good, with its snapshots only by force; clones of those stay', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const id = await array.volume(pool, { name: 'data' });
  const { cg_name } = await get(id);
  const { snapshot_name } = await client.call(snapshots.create, { volume_cg_id: cg_name, display_name: 'before' });
  const clone = { volume_cg_id: cg_name, name: 'copy', snapshot: snapshot_name };
  const { cg_name: cloned } = await client.call(consistencyGroups.clone, clone);
  assert.equal((await get(id)).has_snapshots, 'YES');
  const refused = await client.refused(volumes.delete, { id });
  assert.deepEqual([refused.code, /has 1 snapshot;/.test(refused.message)], [10104, true]);
  await client.call(volumes.delete, { id, force: true, timeout: -1 });
  assert.equal((await client.refused(volumes.get, { id })).code, 10081);
  const { volumes: left } = await client.call(volumes.list, {});
  assert.deepEqual(
    left.map((volume) => [volume.display_name, volume.cg_name]),
    [['copy', cloned]],
  );
  await array.volume(pool, { name: 'data' });
});

test('the recycle bin keeps a deleted volume until it is deleted there', async (t) => {
  const { array, client, pool } = await setUp(t);
  await client.call(settings.update, { recycle_bin: true, recycle_bin_hours: 1 });
  const id = await array.volume(pool, { name: 'data' });
  await client.call(volumes.delete, { id });
  assert.equal((await client.refused(volumes.get, { id })).code, 10081);
  const { volumes: binned } = await client.call(pools.listRecycleBin, { id: pool });
  assert.equal((JSON.parse(binned[0] ?? '{}') as { name: string }).name, id);
  assert.equal((await client.refused(pools.delete, { id: pool })).code, 10102);
  await array.restart();
  const { volname } = await client.call(volumes.deleteFromRecycleBin, { id });
  assert.equal(volname, id);
  assert.equal((await client.refused(volumes.deleteFromRecycleBin, { id })).code, 10081);
  assert.equal((await client.call(pools.listRecycleBin, { id: pool })).count, 0);
});

test('a volume comes back from the recycle bin, under another name where its own was taken', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  await client.call(settings.update, { recycle_bin: true, recycle_bin_hours: 1 });
  const id = await array.volume(pool, { name: 'data' });
  assert.match((await client.refused(volumes.undelete, { id })).message, /not in the recycle bin/);
  await client.call(volumes.delete, { id });
  await array.restart();
  await client.call(volumes.undelete, { id });
  assert.partialDeepStrictEqual(await get(id), { display_name: 'data', status: 'Available' });
  assert.equal((await client.call(pools.listRecycleBin, { id: pool })).count, 0);
  await client.call(volumes.delete, { id });
  await array.volume(pool, { name: 'data' });
  assert.equal((await client.refused(volumes.undelete, { id })).code, 10096);
  await client.call(volumes.undelete, { id, new_name: 'older data' });
  assert.equal((await get(id)).display_name, 'older data');
  assert.equal((await client.refused(volumes.undelete, { id: 'volume-99999999' })).code, 10081);
});

test('an encrypted volume is locked after a restart: its bytes, and those of its clone, come back with the password', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  await client.call(settings.setEncryptionPassword, { encryption_pwd: 'correct horse' });
  const id = await array.volume(pool, { crypt: 'YES' });
  const shown = { encryption: 'YES', encryption_key_size: '256', status: 'Available' } as const;
  assert.partialDeepStrictEqual(await get(id), shown);
  const bytes = randomBytes(2 * MB);
  const disk = await testDisk(t, array, id);
  await disk.write(3, bytes);
  assert.equal((await get(id)).allocated_capacity, 2 / 1024);
  const group = { volume_cg_id: (await get(id)).cg_name, name: 'copy' };
  const { cg_name } = await client.call(consistencyGroups.clone, group);
  await client.call(settings.setEncryptionPassword, {
    encryption_pwd: 'battery staple',
    old_encryption_pwd: 'correct horse',
  });
  assert.deepEqual(await disk.read(3, 2), bytes, 'a change of password does not disturb clients');

  await array.restart();
  const { volumes: locked } = await client.call(volumes.list, {});
  assert.deepEqual(
    locked.map(({ status }) => status),
    ['Locked', 'Locked'],
  );
  assert.equal((await client.refused(settings.restoreEncryption, { encryption_pwd: 'correct horse' })).code, 7);
  await client.call(settings.restoreEncryption, { encryption_pwd: 'battery staple' });
  assert.equal((await get(id)).status, 'In-use');
  await disk.login(t);
  assert.deepEqual(await disk.read(3, 2), bytes);
  const copy = locked.find((volume) => volume.cg_name === cg_name)!;
  assert.equal(copy.encryption, 'YES');
  assert.deepEqual(await (await testDisk(t, array, copy.name)).read(3, 2), bytes);
});

test('a volume can ask for the policies the array came with, and shows what it measured', async (t) => {
  const { array, client, pool, get } = await setUp(t);
  const id = await array.volume(pool, { attachpolicies: 'YES' });
  const { cg_name } = await get(id);
  const attached = await client.call(snapshotPolicies.listOfGroup, { volume_cg_id: cg_name });
  assert.equal(attached.count, 3);
  const { volume_name, usages, count } = await client.call(volumes.performance, { id, interval: 1 });
  assert.deepEqual([volume_name, usages.length], [id, count]);
});

test('a caller who does not wait hears that the deletion goes on', async (t) => {
  const { array, client, pool } = await setUp(t);
  const id = await array.volume(pool);
  const answer = await fetch(`${array.configuration.managementUrl}/api/volumes/${id}?timeout=0`, {
    method: 'DELETE',
    headers: { 'x-access-key': array.user.access_key },
  });
  const { response } = (await answer.json()) as { response: { status: number; message?: string } };
  if (response.status !== 0)
    assert.deepEqual([response.status, /submitted/.test(response.message ?? '')], [SHOWN_SUBMITTED, true]);
  await client.refused(volumes.rename, { id, new_name: 'late' });
});

test('volumes show whom the array belongs to at the portal as their tenant', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const { client } = array;
  const id = await array.volume(await array.pool());
  const tenant = async () => (await client.call(volumes.list, {})).volumes.find(({ name }) => name === id)?.tenant_id;
  assert.equal(await tenant(), null, 'no portal has said');
  await array.change({ tenant: 7 });
  assert.equal(await tenant(), 7);
  assert.equal((await client.call(volumes.get, { id })).volume.tenant_id, 7);
});
