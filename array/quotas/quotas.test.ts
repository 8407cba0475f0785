import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { mountShare, writeFile } from '../testing/test-share.ts';
import { testArray } from '../testing/test-array.ts';
import { MB } from '../units.ts';

const { consistencyGroups, nasUsers, quotaProjects, quotas, volumes } = arrayApi.groups;
const EDQUOT = 69;
const JO = { uid: 1000, gid: 1000 };

async function setUp(t: TestContext) {
  const array = await testArray(t, { drives: 2 });
  const share = await array.volume(await array.pool(), { name: 'reports', block: 'NO' });
  const root = await mountShare(t, array, share);
  await root.setattr(root.root, { mode: 0o777 });
  return { array, client: array.client, share, root };
}

test('a quota of a user ends writing at its last byte, and what is shown is what the files take', async (t) => {
  const { array, client, share } = await setUp(t);
  await client.call(nasUsers.create, { username: 'jo', nfs_uid: 1000 });
  const limit = (megabytes: number) =>
    client.call(quotas.set, {
      id: share,
      quotas: [{ source_id: 1000, source_type: 'user', nas_type: 'nas', limit: String(megabytes) }],
    });
  assert.deepEqual((await limit(2)).errors, []);
  await client.call(quotas.setState, { id: share, uquota: 'on' });
  const jo = await mountShare(t, array, share, JO);
  const file = await writeFile(jo, 'a', Buffer.alloc(MB, 1));
  assert.equal((await jo.write(file, MB, Buffer.alloc(MB, 2))).status, 0);
  // Not one byte more, in this file or another; what is there can be written again.
  assert.equal((await jo.write(file, 2 * MB, Buffer.of(3))).status, EDQUOT);
  assert.equal((await jo.write(file, 0, Buffer.alloc(MB, 4))).status, 0);
  const shown = async () => {
    const { quotas: all } = await client.call(quotas.list, { id: share, scope: 'user' });
    return all.find(({ source_id }) => source_id === '1000');
  };
  assert.deepEqual(await shown(), {
    source_id: '1000',
    source_id_display: 'jo',
    usage: '2',
    soft: '0',
    hard: '2',
    source_type: 'user',
    nas_type: 'nas',
  });
  assert.equal((await client.call(quotas.get, { id: share, scope: 'user', quota_nas: 'jo' })).value, '2');
  assert.partialDeepStrictEqual((await client.call(volumes.get, { id: share })).volume, {
    uquota_state: 'on',
    gquota_state: 'off',
  });
  await array.restart();
  assert.equal((await shown())?.usage, '2');
  const again = await mountShare(t, array, share, JO);
  const { handle } = await again.lookup(again.root, 'a');
  assert.equal((await again.write(handle, 2 * MB, Buffer.of(3))).status, EDQUOT);
  await limit(3);
  assert.equal((await again.write(handle, 2 * MB, Buffer.of(3))).status, 0);
});

test('everything in the directories of a project counts for it, whichever user wrote it, also in a clone', async (t) => {
  const { array, client, share, root } = await setUp(t);
  const { handle: directory } = await root.mkdir(root.root, 'apollo', { mode: 0o777 });
  await writeFile(root, 'before', Buffer.alloc(MB, 1), directory);
  const created = await client.call(quotaProjects.create, {
    id: share,
    display_name: 'apollo',
    directories: ['/apollo', '/none'],
    timeout: -1,
  });
  assert.equal(created.errors.length, 1);
  assert.match(created.errors[0]!, /^\/none: /);
  const { projects } = await client.call(quotaProjects.list, { id: share });
  assert.partialDeepStrictEqual(projects, [
    { display_name: 'apollo', directories_count: 1, directories: [{ path: '/apollo', status: 'Ready' }] },
  ]);
  const project = projects[0]!;
  const set = { source_id: project.id, source_type: 'project', nas_type: '', limit: '2' } as const;
  assert.deepEqual((await client.call(quotas.set, { id: share, quotas: [set] })).errors, []);
  await client.call(quotas.setState, { id: share, pquota: 'on' });
  const jo = await mountShare(t, array, share, JO);
  const file = await writeFile(jo, 'after', Buffer.alloc(MB - 8192, 2), directory);
  const usageOf = async (id: string) => (await client.call(quotas.list, { id, scope: 'project' })).quotas[0]?.usage;
  assert.equal((await jo.write(file, MB, Buffer.alloc(MB, 2))).status, EDQUOT);
  assert.equal(await usageOf(share), '1');
  await writeFile(jo, 'outside', Buffer.alloc(MB, 3));
  const { cg_name: volume_cg_id } = (await client.call(volumes.get, { id: share })).volume;
  const { cg_name } = await client.call(consistencyGroups.clone, { volume_cg_id, name: 'copy', timeout: -1 });
  const { volumes: all } = await client.call(volumes.list, {});
  const clone = all.find((one) => one.cg_name === cg_name)!.name;
  assert.equal((await client.call(quotaProjects.list, { id: clone })).projects[0]?.id, project.id);
  assert.equal(await usageOf(clone), '1');
  const named = { id: share, project_id: project.name };
  const kept = await client.refused(quotaProjects.delete, named);
  assert.match(kept.message, /has 1 directory;/);
  await client.call(quotaProjects.removeDirectory, { ...named, path: '/apollo', timeout: -1 });
  assert.equal(await usageOf(share), '0');
  await client.call(quotaProjects.delete, { ...named, timeout: -1 });
  assert.equal((await client.call(quotas.list, { id: share, scope: 'project' })).count, 0);
  assert.equal((await jo.write(file, MB, Buffer.alloc(MB, 2))).status, 0);
});

test('10,000 quotas of a file are set at once, and one bad row among them sets none', async (t) => {
  const { array, client, share } = await setUp(t);
  const send = async (rows: readonly string[]) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ scope: 'user', file_format: 'csv' })) form.set(name, value);
    form.set('file', new Blob([['id,limit', ...rows].join('\n')]), 'quotas.csv');
    const url = `${array.configuration.managementUrl}/api/volumes/${share}/import_quotas.json`;
    const reply = await fetch(url, { method: 'POST', body: form, headers: { 'x-access-key': array.user.access_key } });
    return ((await reply.json()) as { response: { status: number; message?: string } }).response;
  };
  const rows = Array.from({ length: 10_000 }, (_, index) => `${10_000 + index},${1 + index}`);
  const refused = await send(rows.with(9_998, '99,none'));
  assert.match(`${refused.status} ${refused.message}`, /^7 file row 10000: limit is none/);
  // Only the root directory has an owner.
  assert.equal((await client.call(quotas.list, { id: share, scope: 'user' })).count, 1);
  const start = performance.now();
  assert.equal((await send(rows)).status, 0);
  t.diagnostic(`10,000 quotas were set in ${Math.round(performance.now() - start)} ms`);
  const last = await client.call(quotas.list, { id: share, scope: 'user', start: 10_000, limit: 5 });
  assert.deepEqual(
    [last.count, last.quotas.map(({ source_id, hard }) => [source_id, hard])],
    [10_001, [['19999', '10000']]],
  );
});

test('quotas are for shares: a block volume has none', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const id = await array.volume(await array.pool());
  for (const refused of [
    array.client.refused(quotas.list, { id, scope: 'user' }),
    array.client.refused(quotas.setState, { id, uquota: 'on' }),
    array.client.refused(quotaProjects.create, { id, display_name: 'x' }),
  ])
    assert.match((await refused).message, /is a block volume/);
});

test('the quota of a group ends the writing of its members while quotas of groups are on', async (t) => {
  const { array, client, share } = await setUp(t);
  const quota = { source_id: JO.gid, source_type: 'group', nas_type: 'uid', limit: '1' } as const;
  assert.deepEqual((await client.call(quotas.set, { id: share, quotas: [quota] })).errors, []);
  const jo = await mountShare(t, array, share, JO);
  const file = await writeFile(jo, 'a', Buffer.alloc(MB, 1));
  const more = async (gquota: 'on' | 'off') => {
    await client.call(quotas.setState, { id: share, gquota });
    assert.equal((await client.call(volumes.get, { id: share })).volume.gquota_state, gquota);
    return (await jo.write(file, MB, Buffer.of(1))).status;
  };
  assert.equal(await more('on'), EDQUOT);
  assert.equal(await more('off'), 0);
});
