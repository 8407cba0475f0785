import assert from 'node:assert/strict';
import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';

const DRIVES = 6;
const ROUNDS = process.env['GRANARY_TORTURE'] === '1' ? 20 : 2;

function pair(first: number): string[] {
  return [first, first + 1].map((number) => `volume-${String(number).padStart(8, '0')}`);
}

/** Records and bytes agree: every group works, and every other drive can be used. */
async function checkAll({ client }: TestArrayProcess): Promise<void> {
  const { raid_groups: groups } = await client.raidGroups.list({});
  const { disks } = await client.drives.list({});
  assert.equal(disks.length, DRIVES);
  for (const { name, status } of groups) {
    assert.ok(status === 'Normal', `${name} is ${status}`);
    assert.equal((await client.raidGroups.listDrives({ id: name })).count, 2);
  }
  const free = disks.filter(({ raid_group_name: group }) => group === null).map(({ name }) => name);
  assert.equal(free.length, DRIVES - groups.length * 2);
  for (let at = 0; at + 1 < free.length; at += 2) {
    const disk = free.slice(at, at + 2);
    await client.raidGroups.create({ display_name: `check ${disk.join(' ')}`, protection: 'RAID1', disk });
  }
  for (const { name } of (await client.raidGroups.list({})).raid_groups) await client.raidGroups.delete({ id: name });
  assert.equal((await client.drives.listFree({})).count, DRIVES);
}

/** Makes and deletes a group until the array does not answer. */
async function churn({ client }: TestArrayProcess, first: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const display_name = `group ${first} ${turn}`;
    const wanted = { display_name, protection: 'RAID1' as const, disk: pair(first) };
    const { raidgroup_name: id } = await client.raidGroups.create(wanted);
    await client.raidGroups.delete({ id });
  }
}

test('a kill -9 at any moment leaves groups that work and drives that can be used', async (t) => {
  const configuration = arrayConfiguration(temporaryFolder(t), DRIVES, 1);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  for (let round = 0; round < ROUNDS; round += 1) {
    const work = [1, 3, 5].map((first) => churn(array, first).catch(() => undefined));
    await sleep(60 + round * 45);
    await array.kill();
    await Promise.all(work);
    array = await TestArrayProcess.start(configuration);
    await checkAll(array);
  }
});

test('at a start, what was being made is undone, what was being deleted is gone, and their drives are free', async (t) => {
  const configuration = arrayConfiguration(temporaryFolder(t), DRIVES, 1);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  for (const first of [1, 3, 5])
    await array.client.raidGroups.create({ display_name: `group ${first}`, protection: 'RAID1', disk: pair(first) });
  await array.kill();
  const database = new DatabaseSync(join(configuration.folder, 'array.db'));
  database.exec(`UPDATE raid_groups SET state = 'creating' WHERE name = 'RaidGroup-1'`);
  database.exec(`UPDATE raid_groups SET state = 'deleting' WHERE name = 'RaidGroup-2'`);
  database.exec(`DELETE FROM raid_groups WHERE name = 'RaidGroup-3'`);
  database.exec(`UPDATE drives SET raid_group = NULL, role = NULL WHERE raid_group = 'RaidGroup-3'`);
  database.close();
  // Closing wrote the log back, which after a kill looks like a lost one.
  rmSync(join(configuration.folder, 'array.db.mark'));
  array = await TestArrayProcess.start(configuration);
  assert.equal((await array.client.raidGroups.list({})).count, 0);
  await checkAll(array);
});

test('a drive that a kill left shorter, in the middle of being cleared, has its length again', async (t) => {
  const configuration = arrayConfiguration(temporaryFolder(t), DRIVES, 1);
  for (const { file } of configuration.drives.slice(0, 3)) truncateSync(file, 0);
  const array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  await checkAll(array);
});
