import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Operation, RecordReply } from '@granary/contract';
import type { Values } from '../kernel/http/testing/encodings.ts';
import { until } from '../testing/waiting.ts';
import { twoCopies } from './testing/drives.ts';
import { objectsOperations, startWalk, statusOf } from './testing/walk.ts';

/**
 * Goal: a caller that reads a list piece by piece gets each record once and knows how many there are.
 * Method: every endpoint with start and limit is called, derived from the contract, on an array that has three records
 * of everything there can be three of.
 */
const walk = await startWalk({ after });
const { admin, client, api } = walk;

const RECORDS = 3;
const BAD_PARAMETER = 7;
/** All controllers of an array are in one group, and only the first policy has drives that fill up. */
const ONLY_ONE = new Set(['loadBalancerGroups.list', 'forecasts.list']);
/** Shows one record, and takes the pair as clients send it everywhere. */
const NO_LIST = 'virtualControllers.get';

const paged = objectsOperations.filter(({ endpoint }) => 'start' in endpoint.params && 'limit' in endpoint.params);
const lists = paged.filter(({ id }) => id !== NO_LIST);

/** Events of other kinds come by themselves. */
const steady: Readonly<Record<string, Values>> = { 'messages.list': { attr_key: 'kind', attr_value: 'account' } };

type Shown = Readonly<Record<string, unknown>>;

/** What tells one record of a list from the others: the rest of it may change from one call to the next. */
const identityOf = (record: Shown) => record['id'] ?? record['msg_id'] ?? record['name'];

async function list(operation: Operation, page: Values) {
  const answer = await walk.ask(operation, { ...steady[operation.id], ...page }, admin.key);
  assert.equal(statusOf(answer).code, 0, `${operation.id}: ${answer.text}`);
  const { response } = JSON.parse(answer.text) as { readonly response: Shown };
  const name = Object.keys((operation.endpoint.reply as RecordReply).fields).find((one) => one !== 'count') ?? '';
  return { ids: (response[name] as readonly Shown[]).map(identityOf), count: response['count'] };
}

for (let made = 0; made < RECORDS; made++) {
  const hook = { name: walk.name('hook'), target_url: 'http://127.0.0.1:9/hooks', severity: 0 };
  await client.call(api.webhooks.create, hook);
  const { accountName: account, username, password } = admin;
  await client.call(api.sessions.create, { account, username, password });
}
await walk.objects.change({
  policies: [twoCopies, { ...twoCopies, name: 'second' }, { ...twoCopies, name: 'third' }],
  proxyZones: ['zone_0', 'zone_1'],
});
await until(async () => {
  const [controllers, policies] = [api.virtualControllers.list, api.policies.list];
  const counts = [await client.call(controllers, {}), await client.call(policies, {})].map(({ count }) => count);
  return counts.every((count) => count >= RECORDS);
}, 'controllers and policies are there');

test('every list begins at start and has at most limit records', async () => {
  for (const operation of lists) {
    const { ids, count } = await list(operation, {});
    assert.ok(ids.length >= (ONLY_ONE.has(operation.id) ? 1 : RECORDS), `${operation.id} has ${ids.length}`);
    assert.equal(new Set(ids).size, ids.length, `${operation.id}: each is another`);
    assert.equal(count, ids.length, operation.id);
    const page = async (start: number, limit: number) => list(operation, { start, limit });
    assert.deepEqual(await page(1, 1), { ids: ids.slice(1, 2), count }, operation.id);
    assert.deepEqual(await page(0, 1), { ids: ids.slice(0, 1), count }, operation.id);
    assert.deepEqual(await page(1, 0), { ids: ids.slice(1), count }, operation.id);
    assert.deepEqual(await page(ids.length, 1), { ids: [], count }, operation.id);
  }
});

test('whatever takes start and limit refuses those that are below 0 or no numbers', async () => {
  for (const operation of paged) {
    const values = operation.id === NO_LIST ? { 'vc-index': '0' } : {};
    for (const name of ['start', 'limit'])
      for (const bad of [-1, 1.5, 'all']) {
        const answer = await walk.ask(operation, { ...values, [name]: bad }, admin.key);
        const { code, message } = statusOf(answer);
        assert.equal(code, BAD_PARAMETER, `${operation.id} with ${name}=${bad}: ${answer.text}`);
        assert.match(message, new RegExp(`\\b${name}\\b`), operation.id);
      }
  }
});

test('one controller is shown whole, whichever start and limit come with its index', async () => {
  const { vcs } = await client.call(api.virtualControllers.list, {});
  for (const { vc_index: index, name } of vcs) {
    const asked = { 'vc-index': String(index), start: 5, limit: 1 };
    assert.equal((await client.call(api.virtualControllers.get, asked)).vc.name, name);
  }
  for (const wrong of ['start', 'limit']) {
    const asked = { 'vc-index': '0', [wrong]: -1 };
    assert.match((await client.refused(api.virtualControllers.get, asked)).message, new RegExp(`^${wrong} `));
  }
});
