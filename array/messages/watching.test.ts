import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { checkWebhookParameters } from '../../kernel/webhooks/testing/parameters.ts';
import { isSigned, startReceiver } from '../../kernel/webhooks/testing/receiver.ts';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';

const { messages, webhooks, settings } = arrayApi.groups;

test('an array posts its events of the kinds that are asked for, signed', async (t) => {
  const receiver = await startReceiver(t);
  const array = await testArray(t);
  const { webhook, secret } = await array.client.call(webhooks.create, {
    name: 'pools',
    target_url: receiver.url,
    severity: 6,
    kinds: ['pool'],
  });
  assert.deepEqual([webhook.target_url, webhook.kinds, webhook.state], [receiver.url, ['pool'], 'enabled']);
  await array.pool({ name: 'gold' });
  await until(() => receiver.posted.length > 0);
  assert.match(receiver.titles()[0]!, /^Pool gold .* was created\.$/);
  assert.ok(isSigned(receiver.posted[0]!, secret));
  const delivered = await until(async () => {
    const shown = await array.client.call(webhooks.get, { id: webhook.id });
    return shown.webhook.waiting === 0 && shown.webhook;
  });
  assert.deepEqual([delivered.last_status, delivered.failures, delivered.skipped], [200, 0, 0]);
  receiver.status = 500;
  const { test: result } = await array.client.call(webhooks.test, { id: webhook.id });
  assert.deepEqual([result.result, result.http_status, result.reason], ['failed', 500, 'it answered HTTP 500']);
});

test('logins of servers are listed when their kind is asked for, or all kinds', async (t) => {
  const array = await testArray(t);
  const volume = await array.volume(await array.pool());
  await testDisk(t, array, volume);
  const titles = async (filter = {}) =>
    (await array.client.call(messages.list, filter)).messages.map(({ msg_title: title }) => title);
  const isLogin = (title: string) => title.includes(' logged in as ');
  await until(async () => (await titles({ attr_key: 'kind', attr_value: 'login' })).some(isLogin));
  assert.ok(!(await titles()).some(isLogin));
  assert.ok((await titles({ attr_key: 'kind', attr_value: 'all' })).some(isLogin));
});

test('a token for metrics is shown until it is removed', async (t) => {
  const { client } = await testArray(t);
  assert.equal((await client.call(settings.getMetricsToken, {})).metrics_token, null);
  const { metrics_token: token } = await client.call(settings.createMetricsToken, {});
  assert.equal((await client.call(settings.getMetricsToken, {})).metrics_token, token);
  await client.call(settings.deleteMetricsToken, {});
  assert.equal((await client.call(settings.getMetricsToken, {})).metrics_token, null);
});

test('a webhook of an array is as it was asked for, and changes by its number', async (t) => {
  const { client } = await testArray(t);
  await checkWebhookParameters(t, {
    create: (wanted) => client.call(webhooks.create, wanted),
    get: (named) => client.call(webhooks.get, named),
    update: (change) => client.call(webhooks.update, change),
    delete: (named) => client.call(webhooks.delete, named),
    test: (named) => client.call(webhooks.test, named),
  });
});
