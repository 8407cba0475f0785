import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refused, startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { client } = portal.admin;

async function newGroup(): Promise<{ id: number; name: string }> {
  const name = portal.name('group');
  return { id: (await client.providerGroups.create({ name })).data.provider_group_id, name };
}

test('a provider group is added, shown, renamed and removed', async () => {
  const { id, name } = await newGroup();
  assert.deepEqual((await client.providerGroups.get({ id })).data.provider_group, { id: String(id), name });
  assert.deepEqual((await client.providerGroups.update({ id, name: 'europe' })).data, { provider_group_id: id });
  const { data } = await client.providerGroups.list();
  assert.deepEqual(data.provider_groups, [{ id: String(id), name: 'europe' }]);
  await client.providerGroups.delete({ id });
  await refused(client.providerGroups.get({ id }), 404, /There is no provider group/);
  await refused(client.providerGroups.delete({ id }), 404, /There is no provider group/);
});

test('the name of a group is its own', async () => {
  const { id, name } = await newGroup();
  await refused(client.providerGroups.create({ name }), 409, /is taken/);
  const other = await newGroup();
  await refused(client.providerGroups.update({ id: other.id, name }), 409, /is taken/);
  await client.providerGroups.update({ id, name });
});

test('a group that a provider is in is not removed', async () => {
  const { id } = await newGroup();
  await portal.store.write((tx) => tx.run('UPDATE providers SET provider_group_id = :id WHERE id = 1', { id }));
  assert.equal((await client.providers.get({ id: 1 })).data.provider_group_id, String(id));
  await refused(client.providerGroups.delete({ id }), 409, /is in use: 1 provider is in it/);
  await portal.store.write((tx) => tx.run('UPDATE providers SET provider_group_id = NULL WHERE id = 1'));
  await client.providerGroups.delete({ id });
});

test('groups come in pages', async () => {
  for (let made = 0; made < 3; made++) await newGroup();
  const { data: all } = await client.providerGroups.list();
  const { data: page } = await client.providerGroups.list({ start: 1, limit: 1 });
  assert.deepEqual(page.provider_groups, all.provider_groups.slice(1, 2));
});
