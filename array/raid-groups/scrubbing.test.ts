import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { fileOf, findInFile, named, writeFile } from '../drives/testing/drive-files.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';

const { drives, raidGroups, messages } = arrayApi.groups;
const BLOCK_BYTES = 4096;
const MB = 2 ** 20;
const GB = 2 ** 30;

/** A mirror with data, and one block of it wrong on the first drive. */
async function setUp(t: TestContext, megabytes: number) {
  const array = await testArray(t, { drives: 3 });
  const group = await array.group({ name: 'fast' });
  const volume = await array.volume(await array.pool({ groups: [group] }), { capacity: '200M' });
  const disk = await testDisk(t, array, volume);
  const bytes = randomBytes(megabytes * MB);
  await disk.write(0, bytes);
  const damage = (number: number, block: number) => {
    const file = fileOf(array, number);
    const at = findInFile(file, bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES), GB);
    assert.ok(at > 0, 'the data is on the drive');
    writeFile(file, at + 100, randomBytes(200));
  };
  return {
    array,
    client: array.client,
    group,
    damage,
    holds: async () => assert.ok((await disk.read(0, megabytes)).equals(bytes)),
    record: async () => (await array.client.call(raidGroups.get, { id: group })).raid_group,
    results: async () => {
      const { messages: reported } = await array.client.call(messages.list, { attr_key: 'raid_group' });
      const titles = reported.map(({ msg_title }) => msg_title);
      return titles.filter((title) => title.startsWith('The scrub'));
    },
  };
}

test('a scrub finds and mends what does not match, and the event log says so', async (t) => {
  const { client, group, damage, holds, record, results } = await setUp(t, 8);
  for (const block of [3, 700]) damage(1, block);
  await client.call(raidGroups.scrub, { id: group });
  await until(async () => (await record()).status === 'Normal', 'the end of the scrub');
  const { status, mismatch_count: count } = await record();
  assert.deepEqual([status, count], ['Normal', 2]);
  assert.deepEqual(await results(), [
    `The scrub of RAID group fast (${group}) ended: 2 mismatches found, 2 repaired, 0 lost.`,
  ]);
  await client.call(drives.takeOffline, { id: named(2) });
  await holds();
  const degraded = await client.refused(raidGroups.scrub, { id: group });
  assert.deepEqual(
    [degraded.code, degraded.message],
    [10100, `RAID group fast (${group}) is degraded; it can be scrubbed once it is normal.`],
  );
  await client.call(drives.bringOnline, { id: named(2) });
  await until(async () => (await record()).status === 'Normal', 'normal');
  await client.call(raidGroups.scrub, { id: group });
  await until(async () => (await record()).status === 'Normal', 'the end of the scrub');
  assert.equal((await record()).mismatch_count, 0, 'of the last scrub');
  assert.equal((await results())[0], `The scrub of RAID group fast (${group}) ended: no mismatches found.`);
});

test('a scrub is paused, survives a restart, and goes on where it was', async (t) => {
  const { array, client, group, damage, record, results } = await setUp(t, 60);
  damage(1, 0);
  assert.equal((await client.refused(raidGroups.pauseScrub, { id: group })).code, 10100);
  await client.call(raidGroups.setResyncSpeed, { id: group, min: 8, max: 8 });
  const started = await client.call(raidGroups.scrub, { id: group, timeout: -1 });
  assert.deepEqual(started, { status: 0, raidgroup_name: group }, 'at once, whatever the timeout is');
  assert.match((await record()).status, /^Scrubbing \d+%$/);
  assert.equal((await client.refused(raidGroups.scrub, { id: group })).code, 10100, 'already');
  await until(async () => /Scrubbing [1-9]\d*%/.test((await record()).status), 'some of it');
  await client.call(raidGroups.pauseScrub, { id: group });
  assert.deepEqual([(await record()).status, (await record()).mismatch_count], ['Normal', 1]);
  assert.match((await results())[0]!, /was paused at [1-9]\d*%\.$/);
  await array.restart();
  assert.equal((await record()).status, 'Normal');
  await client.call(raidGroups.scrub, { id: group });
  assert.match((await record()).status, /^Scrubbing \d+%$/);
  await array.restart();
  assert.match((await record()).status, /^Scrubbing \d+%$/, 'it goes on by itself');
  await client.call(raidGroups.setResyncSpeed, { id: group, min: 1000, max: 1000 });
  await until(async () => (await record()).status === 'Normal', 'the end');
  assert.equal((await record()).mismatch_count, 1);
  assert.equal(
    (await results())[0],
    `The scrub of RAID group fast (${group}) ended: no mismatches found (and 1 before it was interrupted).`,
  );
});

test('a RAID group that is being scrubbed can be deleted', async (t) => {
  const array = await testArray(t, { drives: 4 });
  const group = await array.group();
  await array.client.call(raidGroups.setResyncSpeed, { id: group, min: 1, max: 1 });
  await array.client.call(raidGroups.scrub, { id: group });
  await array.client.call(raidGroups.delete, { id: group });
  assert.equal((await array.client.call(drives.listFree, {})).count, 4);
});
