import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { followChanges } from '../../kernel/http/testing/follow.ts';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';

const { raidGroups, settings } = arrayApi.groups;

test('who follows an array learns what users change, what its drives do, and how its work gets on', async (t) => {
  const array = await testArray(t);
  const url = array.configuration.managementUrl;
  const feed = await followChanges(t, url, { 'x-access-key': array.user.access_key });
  const group = await array.group();
  await feed.changed('raidGroups', 'drives', 'messages');
  const pool = await array.pool({ groups: [group] });
  await feed.changed('pools');
  await array.volume(pool);
  await feed.changed('volumes');
  await array.client.call(raidGroups.scrub, { id: group });
  await feed.changed('raidGroups');
  for (const { file } of array.configuration.drives) renameSync(file, `${file}.moved`);
  await feed.changed('drives', 'raidGroups');
});

test('a change of settings is one of controllers, whose records show some of them', async (t) => {
  const array = await testArray(t);
  const feed = await followChanges(t, array.configuration.managementUrl, { 'x-access-key': array.user.access_key });
  await array.client.call(settings.update, { recycle_bin: true });
  await feed.changed('controllers', 'settings');
});

test('an array stops while somebody follows it', async (t) => {
  const array = await testArray(t);
  const feed = await followChanges(t, array.configuration.managementUrl, { 'x-access-key': array.user.access_key });
  await array.stop();
  await until(() => feed.hasEnded());
});
