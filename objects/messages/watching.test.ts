import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { checkWebhookParameters } from '../../kernel/webhooks/testing/parameters.ts';
import { isSigned, startReceiver } from '../../kernel/webhooks/testing/receiver.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

const { messages, webhooks } = objectsApi.groups;

test('object storage posts its events of the kinds that are asked for, signed, and lists them by kind', async (t) => {
  const receiver = await startReceiver(t);
  const objects = await testObjects(t);
  const { client } = objects;
  const wanted = { name: 'accounts', target_url: receiver.url, severity: 6, kinds: ['account' as const] };
  const { secret } = await client.call(webhooks.create, wanted);
  await objects.account('webhosting');
  await until(() => receiver.posted.length > 0);
  assert.ok(isSigned(receiver.posted[0]!, secret));
  assert.equal(receiver.posted[0]!.body.event.kind, 'account');
  const kind = async (value: string) =>
    (await client.call(messages.list, { attr_key: 'kind', attr_value: value })).messages.map((one) => one.msg_title);
  assert.ok((await kind('account')).includes(receiver.titles()[0]!));
  assert.ok(!(await kind('array')).includes(receiver.titles()[0]!));
  const { message } = await client.refused(messages.list, { attr_key: 'kind', attr_value: 'accounts' });
  assert.match(message, /attr_value must be a kind of events: account, array/);
});

test('a webhook of object storage posts to the address it is changed to, and holds events back while it is disabled', async (t) => {
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const objects = await testObjects(t);
  const { client } = objects;
  const wanted = { name: 'accounts', target_url: first.url, severity: 6, kinds: ['account' as const] };
  const { id } = (await client.call(webhooks.create, wanted)).webhook;
  await objects.account('north');
  await until(() => first.posted.length === 1, 'the first address is posted to');

  assert.equal((await client.call(webhooks.update, { id, target_url: second.url })).webhook.target_url, second.url);
  await objects.account('south');
  await until(() => second.posted.length === 1, 'the second address is posted to');

  assert.equal((await client.call(webhooks.update, { id, enabled: false })).webhook.state, 'disabled');
  await objects.account('west');
  assert.equal((await client.call(webhooks.test, { id })).test.result, 'delivered');
  assert.equal((await client.call(webhooks.get, { id })).webhook.waiting, 1);
  assert.equal(second.posted.length, 2, 'an event and the test');

  await client.call(webhooks.update, { id, enabled: true });
  await until(() => second.posted.length === 3, 'what waited is posted');
  const titleOf = (name: string) => `Account ${name} was created.`;
  assert.deepEqual(first.titles(), [titleOf('north')]);
  assert.deepEqual([second.titles()[0], second.titles()[2]], [titleOf('south'), titleOf('west')]);
});

test('a webhook of object storage is as it was asked for, and changes by its number', async (t) => {
  const { client } = await testObjects(t);
  await checkWebhookParameters(t, {
    create: (wanted) => client.call(webhooks.create, wanted),
    get: (named) => client.call(webhooks.get, named),
    update: (change) => client.call(webhooks.update, change),
    delete: (named) => client.call(webhooks.delete, named),
    test: (named) => client.call(webhooks.test, named),
  });
});
