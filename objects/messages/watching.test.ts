import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
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
