import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect } from '../../protocols/s3/testing/client.ts';
import { twoCopies } from '../testing/drives.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: storage policies and drives show their state, and drives leave without anything being lost.
 * Method: one array with a policy of copies on six drives and one of fragments on four, with objects on both.
 */
const { accounts, policies, drives, messages } = objectsApi.groups;
const fragments = { name: 'fragments', typeId: 2, typeName: '2+1', replicas: 0, dataFragments: 2, parityFragments: 1 };
const COPIES = 'policy-00000001';
const FRAGMENTS = 'policy-00000002';
const objects = await testObjects({ after }, { drives: 6, policies: [twoCopies, fragments] });
for (const number of [7, 8, 9, 10]) await objects.addDrive(number, { policy: 'fragments', type: 'NVME_10GB' });
const { client } = objects;
const s3 = objects.s3(objects.owner);

const bodyOf = (index: number) => `object ${index} `.repeat(index + 1);
expect(await s3.call('PUT', '/photos'), 200);
for (let index = 0; index < 40; index++) expect(await s3.call('PUT', `/photos/${index}`, { body: bodyOf(index) }), 200);

async function allRead(): Promise<void> {
  for (let index = 0; index < 40; index++)
    assert.equal((await s3.call('GET', `/photos/${index}`)).text, bodyOf(index), `object ${index}`);
}

const policy = async (name: string) => (await client.call(policies.get, { name })).policy;
const titles = async () => (await client.call(messages.list, {})).messages.map(({ msg_title }) => msg_title);

test('policies show how they protect, what they hold and how they are', async () => {
  await until(async () => (await policy(FRAGMENTS)).total_drives === 4, 'all drives joined');
  const { policies: all, count } = await client.call(policies.list, {});
  assert.deepEqual(
    all.map((one) => [one.name, one.display_name, one.default, one.policy_type, one.short_description]),
    [
      [COPIES, 'two-copies', 'YES', '2-way', '2 copies'],
      [FRAGMENTS, 'fragments', 'NO', '2+1', '2 data and 1 parity fragments'],
    ],
  );
  assert.equal(count, 2);
  const one = await policy(COPIES);
  assert.deepEqual(
    [one.number_of_mirrors, one.data_fragments, one.total_drives, one.capacity, one.disks_count, one.disks.length],
    [2, 0, 6, 60, 6, 6],
  );
  assert.deepEqual(
    [one.state, one.health_status, one.health_percentage, one.partition_count_degraded, one.capacity_mode],
    ['initialized', 'normal', 100, 0, 'normal'],
  );
  const stored = Array.from({ length: 40 }, (_, index) => bodyOf(index).length).reduce((a, b) => a + b);
  assert.ok(one.used_capacity * 2 ** 30 >= 2 * stored, 'both copies count');
  const onDrives = one.disks.reduce((sum, { used_capacity: used }) => sum + used, 0);
  assert.ok(Math.abs(onDrives - one.used_capacity) < 1e-9, 'a policy holds what its drives hold');
  const { count: owned } = await client.call(accounts.get, { account_id: objects.owner.accountId });
  assert.deepEqual([owned.objects, owned.containers, owned.used_capacity * 2 ** 30], [40, 1, stored]);
  assert.equal((await policy('two-copies')).name, COPIES, 'by the name the portal gave it, too');
  assert.equal((await client.refused(policies.get, { name: 'policy-00000009' })).code, 50007);
});

test('drives show their policy, their controller and how they are', async () => {
  const { disks, count } = await client.call(drives.list, {});
  assert.equal(count, 10);
  assert.ok(disks.every(({ status }) => status === 'Normal'));
  assert.deepEqual(
    disks.map(({ storage_policy }) => storage_policy),
    [...Array<string>(6).fill('two-copies'), ...Array<string>(4).fill('fragments')],
  );
  assert.deepEqual([...new Set(disks.map(({ allocation_zone, zone_id }) => `${allocation_zone} ${zone_id}`))].sort(), [
    'zone_0 1',
    'zone_1 2',
  ]);
  const [first] = disks;
  assert.ok(first);
  assert.match(String(first.vc), /^vsa-00000001-vc-\d$/);
  const { disk } = await client.call(drives.get, { name: first.name });
  assert.deepEqual(disk, first);
  assert.deepEqual((await client.call(drives.get, { name: first.disk_uuid })).disk, first);
  assert.equal((await client.refused(drives.get, { name: 'volume-99999999' })).code, 50005);
});

test('a description and a price are kept, one without the other', async () => {
  await client.call(policies.update, { name: COPIES, full_description: 'For hot data' });
  await client.call(policies.update, { name: COPIES, gb_per_month_cost: '0.023' });
  const one = await policy(COPIES);
  assert.deepEqual([one.full_description, one.gb_per_month_cost], ['For hot data', 0.023]);
  await client.call(policies.update, { name: COPIES, full_description: '' });
  assert.equal((await policy(COPIES)).gb_per_month_cost, 0.023);
  for (const wrong of ['-1', '1,5', 'free'])
    assert.equal((await client.refused(policies.update, { name: COPIES, gb_per_month_cost: wrong })).code, 7);
});

test('a policy is found by its name in paths and by the name people gave it, in whatever case', async () => {
  for (const name of [COPIES, COPIES.toUpperCase(), 'two-copies', 'Two-Copies'])
    assert.equal((await policy(name)).name, COPIES, name);
  const made = await objects.swift(objects.owner, 'PUT', '/by-id', { headers: { 'x-storage-policy': FRAGMENTS } });
  assert.equal(made.status, 201);
  expect(await s3.call('PUT', '/by-s3-id', { headers: { 'x-storage-policy': FRAGMENTS } }), 200);
  for (const bucket of ['/by-id', '/by-s3-id']) {
    const { headers } = await objects.swift(objects.owner, 'HEAD', bucket);
    assert.equal(headers.get('x-storage-policy'), 'fragments', bucket);
  }
});

test('new buckets get the default policy, from the next one on', async () => {
  const { policy_name } = await client.call(policies.setDefault, { name: FRAGMENTS });
  assert.equal(policy_name, FRAGMENTS);
  assert.deepEqual([(await policy(COPIES)).default, (await policy(FRAGMENTS)).default], ['NO', 'YES']);
  expect(await s3.call('PUT', '/archive'), 200);
  expect(await s3.call('PUT', '/archive/large', { body: bodyOf(5_000) }), 200);
  const container = await objects.swift(objects.owner, 'HEAD', '/archive');
  assert.equal(container.headers.get('x-storage-policy'), 'fragments');
  const old = await objects.swift(objects.owner, 'HEAD', '/photos');
  assert.equal(old.headers.get('x-storage-policy'), 'two-copies', 'what there is stays where it is');
  await client.call(policies.setDefault, { name: COPIES });
});

test('drives leave: what they hold is moved first, then they are given back', async () => {
  const one = { type: 'SSD_10GB', quantity: 1 };
  const remove = () => client.call(policies.removeDrives, { name: COPIES, drives: [one, one], timeout: -1 });
  const ends = await Promise.allSettled([remove(), remove()]);
  const refused = ends.filter((end) => end.status === 'rejected').map(({ reason }) => String(reason));
  assert.equal(refused.length, 1, 'those who come second find them leaving');
  assert.match(String(refused[0]), /"status":50100,"message":"Drives are leaving storage policy two-copies already/);
  assert.equal(new Set(objects.returned).size, 2, 'a type that is named twice counts twice');
  const left = await policy(COPIES);
  assert.deepEqual([left.total_drives, left.disks_count, left.health_status], [4, 4, 'normal']);
  assert.ok(!left.disks.some(({ disk_uuid }) => objects.returned.includes(disk_uuid)));
  assert.ok((await titles()).includes('2 drives left storage policy two-copies and were given back.'));
  // They belong to another array now: nothing may be read from them.
  const gone = objects.returned.map((uuid) => Number(uuid.slice(-12)));
  for (const number of gone) rmSync(objects.folderOf(number), { recursive: true });
  await allRead();
  assert.equal((await s3.call('GET', '/archive/large')).text, bodyOf(5_000));
});

test('too many drives at once, or of a type that is not there, are refused and nothing leaves', async () => {
  const refused = async (name: string, wanted: readonly { type: string; quantity: number }[]) =>
    client.refused(policies.removeDrives, { name, drives: [...wanted] });
  const few = await refused(COPIES, [{ type: 'SSD_10GB', quantity: 3 }]);
  assert.equal(few.code, 50100);
  assert.match(few.message, /^Storage policy two-copies needs 2 drives and would be left with 1; remove fewer\.$/);
  const none = await refused(FRAGMENTS, [{ type: 'SSD_10GB', quantity: 1 }]);
  assert.match(none.message, /^Storage policy fragments has 0 drives of type SSD_10GB, not 1\.$/);
  assert.equal((await refused('policy-00000009', [{ type: 'SSD_10GB', quantity: 1 }])).code, 50007);
  assert.deepEqual([(await policy(COPIES)).total_drives, (await policy(FRAGMENTS)).total_drives], [4, 4]);
});

test('a policy without drives enough cannot become the default', async () => {
  const idle = { ...fragments, name: 'idle' };
  await objects.change({ policies: [twoCopies, fragments, idle] });
  const { code, message } = await client.refused(policies.setDefault, { name: 'idle' });
  assert.deepEqual([code, message], [50100, 'Storage policy idle has too few drives to be used.']);
});

test('a drive that goes missing has failed and the policy is degraded, yet everything is read', async () => {
  const [lost] = objects.configuration.drives;
  assert.ok(lost);
  rmSync(lost.file, { recursive: true });
  await allRead();
  const status = async () => (await client.call(drives.get, { name: lost.uuid })).disk.status;
  await until(async () => (await status()) === 'Failed', 'the drive is missed');
  await allRead();
});
