import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, name, cloud } = portal;

/** The newest first, until the one that was the newest before. */
async function eventsOf(act: () => Promise<unknown>): Promise<string[]> {
  const newest = (await admin.client.events.list({ limit: 1 })).data[0]?.msg_id;
  await act();
  const { data } = await admin.client.events.list();
  return data
    .slice(
      0,
      data.findIndex(({ msg_id: id }) => id === newest),
    )
    .map(({ msg_title: title }) => title)
    .reverse();
}

test('the life of an array is recorded step by step', async () => {
  const array = name('tank');
  const titles = await eventsOf(async () => {
    const { id } = await portal.array(owner, { name: array });
    await owner.client.arrays.addPublicIp({ array_id: id });
    await owner.client.arrays.hibernate({ array_id: id });
    await portal.until(id, 'hibernated');
    await owner.client.arrays.restore({ array_id: id });
    await portal.until(id, 'created');
    await admin.client.arrays.delete({ array_id: id });
    await portal.until(id, 'deleted');
  });
  assert.deepEqual(
    titles.map((title) => title.replace(/Request \d+/, 'Request #')),
    [
      `Array ${array} was ordered.`,
      `Request # (create array ${array}) was approved.`,
      `Array ${array} was created.`,
      `Array ${array}: giving it a public address is done.`,
      `Array ${array} is being hibernated.`,
      `Array ${array} hibernates.`,
      `Array ${array} is being restored.`,
      `Array ${array} is running again.`,
      `Request # (delete array ${array}) was approved.`,
      `Array ${array} is being deleted.`,
      `Array ${array} was deleted.`,
    ],
  );
});

test('what administrators do is recorded', async () => {
  const [user, group] = [name('user'), name('group')];
  const titles = await eventsOf(async () => {
    const { data } = await admin.client.users.create({ username: user, password: 'correct horse battery' });
    await admin.client.users.update({ id: data.id, password: 'another horse battery' });
    await admin.client.users.delete({ id: data.id });
    const { data: added } = await admin.client.providerGroups.create({ name: group });
    await admin.client.providerGroups.delete({ id: added.provider_group_id });
    await admin.client.settings.setLogLevel({ log_level: 'info' });
    await admin.client.driveTypes.update({ cloud_id: 1, drive_type_id: 2, name: 'Flash' });
  });
  assert.deepEqual(titles, [
    `User ${user} was added.`,
    `User ${user} was changed.`,
    `User ${user} was removed.`,
    `Provider group ${group} was added.`,
    `Provider group ${group} was removed.`,
    'The log level is now info.',
    'Drive type SSD_100GB was changed.',
  ]);
});

test('a refused request leaves no event', async () => {
  const titles = await eventsOf(async () => {
    await assert.rejects(admin.client.users.delete({ id: admin.id }));
    await assert.rejects(friend.client.arrays.hibernate({ array_id: 99_999 }));
  });
  assert.deepEqual(titles, []);
});

test('events are filtered by severity, newest first, in pages with the count of all', async () => {
  const { name: array } = await portal.array(friend);
  cloud.setState(array, 'failed', 'It crashed.');
  await portal.services.watcher.poll();
  const errors = await admin.client.events.list({ severity: 3 });
  assert.ok(errors.data.length > 0 && errors.data.every(({ msg_severity: severity }) => Number(severity) <= 3));
  assert.equal(errors.data[0]?.msg_title, `Array ${array} failed: It crashed.`);
  assert.equal(errors.count, errors.data.length);
  const all = await admin.client.events.list();
  const arrays = await admin.client.events.list({ kind: 'array' });
  assert.ok(arrays.count > 0 && arrays.count < all.count);
  assert.ok(arrays.data.every(({ msg_title: title }) => title.startsWith('Array')));
  const page = await admin.client.events.list({ start: 1, limit: 2 });
  assert.deepEqual(page.data, all.data.slice(1, 3));
  assert.equal(page.count, all.data.length);
  assert.match(String(all.data[0]?.msg_time), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});
