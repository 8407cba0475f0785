import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Operation } from '@granary/contract';
import { askedOf, usualEncoding, type Values } from '../kernel/http/testing/encodings.ts';
import { startFakeCloud } from './testing/fake-cloud.ts';
import { startFakeSummaries } from './testing/fake-summaries.ts';
import { startTestPortal, type Person } from './testing/portal.ts';
import { portalOperations, preparations } from './testing/valid-requests.ts';

/**
 * Goal: a caller that reads a list piece by piece gets each record once and knows how many there are.
 * Method: every endpoint with start and limit is called, derived from the contract, by an administrator and by the owner
 * of at least three records of everything that users own.
 */
const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, name } = portal;
const RECORDS = 3;

const lists = portalOperations.filter(({ endpoint }) => 'start' in endpoint.params && 'limit' in endpoint.params);

const arrays = await startFakeSummaries();
portal.onStop(() => arrays.stop());

const prepare = async (id: string): Promise<Values> => (await preparations[id]?.(portal, owner)) ?? {};

/** Things whose preparation leaves one behind. */
const made = ['arrays.get', 'computes.get', 'objectAccounts.get', 'providers.update', 'providerGroups.get'];
for (let round = 0; round < RECORDS; round++) {
  for (const id of [...made, 'vlans.deallocate', 'virtualNetworks.delete', 'webhooks.get', 'sessions.delete'])
    await prepare(id);
  portal.cloud.managementUrl = arrays.url;
  await portal.array(owner);
  portal.cloud.managementUrl = undefined;
  const uuid = `00000000-0000-4000-8000-00000000000${round}`;
  const cloud = await startFakeCloud({ uuid });
  portal.onStop(() => cloud.stop());
  const place = { ip: cloud.address, admin_user: cloud.adminUser, admin_key: cloud.adminKey };
  await admin.client.clouds.create({ name: name('cloud'), ...place });
}
await portal.rest();
await portal.services.summaries.poll();

/** What names the list in its path; events of other kinds come by themselves. */
const needed: Readonly<Record<string, Values>> = {
  'driveTypes.list': { id: 1 },
  'arrays.listCompatibleInterfaces': await prepare('arrays.listCompatibleInterfaces'),
  'objectAccounts.list': await prepare('objectAccounts.list'),
  'events.list': { kind: 'provider' },
  'sessions.list': { all: true },
};

type Shown = Readonly<Record<string, unknown>>;

/** What tells one record of a list from the others: the rest of it may change from one call to the next. */
function identityOf(record: Shown): string {
  const named = ['id', 'msg_id', 'custom_network_id'].find((field) => field in record);
  return JSON.stringify(named === undefined ? [record['provider_id'], record['vlan_id']] : record[named]);
}

/** The records are in `data`, in a level below it, or under a name of their own. */
function recordsOf(reply: Shown): readonly Shown[] | undefined {
  const values = Object.values(reply);
  const found = values.find((value) => Array.isArray(value));
  if (found) return found as readonly Shown[];
  const below = values.find((value) => typeof value === 'object' && value !== null);
  return below && recordsOf(below as Shown);
}

async function list(operation: Operation, person: Person, page: Values) {
  const asked = askedOf(operation, { ...needed[operation.id], ...page }, usualEncoding(operation));
  const answer = await portal.send(person, asked);
  assert.equal(answer.status, 200, `${operation.id}: ${answer.text}`);
  const reply = answer.json();
  const count = Number(reply['count'] ?? answer.headers['x-total-count']);
  return { ids: recordsOf(reply)?.map(identityOf) ?? [], count };
}

const isAdministrators = ({ endpoint: { access } }: Operation) =>
  access.roles !== 'anyone' && !access.roles.includes('user');

test('every list begins at start and has at most limit records', async () => {
  for (const operation of lists)
    for (const person of isAdministrators(operation) ? [admin] : [admin, owner]) {
      const what = `${operation.id} for ${person.username}`;
      const { ids, count } = await list(operation, person, {});
      assert.ok(ids.length >= RECORDS, `${what} has ${ids.length}`);
      assert.equal(new Set(ids).size, ids.length, `${what}: each is another`);
      assert.equal(count, ids.length, what);
      const page = async (start: number, limit: number) => list(operation, person, { start, limit });
      assert.deepEqual(await page(1, 1), { ids: ids.slice(1, 2), count }, what);
      assert.deepEqual(await page(0, 1), { ids: ids.slice(0, 1), count }, what);
      assert.deepEqual(await page(1, 0), { ids: ids.slice(1), count }, what);
      assert.deepEqual(await page(ids.length, 1), { ids: [], count }, what);
    }
});

test('every list refuses a start and a limit below 0, and those that are no numbers', async () => {
  for (const operation of lists)
    for (const bad of ['start', 'limit'])
      for (const value of [-1, 1.5, 'all']) {
        const values = { ...needed[operation.id], [bad]: value };
        const answer = await portal.send(admin, askedOf(operation, values, usualEncoding(operation)));
        assert.equal(answer.status, 400, `${operation.id} with ${bad}=${value}: ${answer.text}`);
        assert.match(String(answer.json()['message']), new RegExp(`\\b${bad}\\b`), operation.id);
      }
});
