import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWebhookParameters } from '../../kernel/webhooks/testing/parameters.ts';
import { startReceiver } from '../../kernel/webhooks/testing/receiver.ts';
import { until } from '../../testing/waiting.ts';
import { startTestPortal } from '../testing/portal.ts';

test('a webhook posts to the address it is changed to, and posts what happened meanwhile once it is enabled again', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const { webhooks, providerGroups } = portal.admin.client;
  const wanted = { name: 'groups', target_url: first.url, severity: 6, kinds: ['provider_group' as const] };
  const { id } = (await webhooks.create(wanted)).webhook;
  await providerGroups.create({ name: 'north' });
  await until(() => first.posted.length === 1, 'the first address is posted to');

  assert.equal((await webhooks.update({ id, target_url: second.url })).webhook.target_url, second.url);
  await providerGroups.create({ name: 'south' });
  await until(() => second.posted.length === 1, 'the second address is posted to');

  assert.equal((await webhooks.update({ id, enabled: false })).webhook.state, 'disabled');
  await providerGroups.create({ name: 'west' });
  assert.equal((await webhooks.test({ id })).test.result, 'delivered');
  assert.equal((await webhooks.get({ id })).webhook.waiting, 1);
  assert.equal(second.posted.length, 2, 'an event and the test');

  assert.equal((await webhooks.update({ id, enabled: true })).webhook.state, 'enabled');
  await until(() => second.posted.length === 3, 'what waited is posted');
  const titleOf = (name: string) => `Provider group ${name} was added.`;
  assert.deepEqual(first.titles(), [titleOf('north')]);
  assert.deepEqual([second.titles()[0], second.titles()[2]], [titleOf('south'), titleOf('west')]);
});

test('a webhook of the portal is as it was asked for, and changes by its number', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  await checkWebhookParameters(t, portal.admin.client.webhooks);
});
