import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { testObjects } from '../testing/test-objects.ts';
import { until } from '../../testing/waiting.ts';

const { accounts, policies } = objectsApi.groups;
const MIB = 2 ** 20;
const ACCOUNT_NOT_FOUND = 50_001;

test('how much an account and its policy held over time begins with nothing and ends with the present', async (t) => {
  const array = await testObjects(t);
  const client = array.s3(array.owner);
  t.after(() => client.close());
  const { accounts: known } = await array.client.call(accounts.list, {});
  const [home] = known;
  assert.ok(home);
  const held = async () => (await array.client.call(accounts.capacity, { id: home.id })).objects;
  await until(async () => (await held()).length >= 2, 'the first point is on record');
  expect(await client.call('PUT', '/box'), 200);
  expect(await client.call('PUT', '/box/a', { body: Buffer.alloc(MIB) }), 200);
  const points = await held();
  assert.equal(points[0]?.used_bytes, 0);
  assert.equal(points.at(-1)?.used_bytes, MIB);
  assert.deepEqual(
    points.map(({ time }) => time),
    points.map(({ time }) => time).toSorted((a, b) => a - b),
  );
  const ofPolicy = (await array.client.call(policies.capacity, { id: 'policy-00000001' })).objects;
  assert.equal(ofPolicy[0]?.used_bytes, 0);
  assert.ok((ofPolicy.at(-1)?.used_bytes ?? 0) >= 2 * MIB, 'a policy counts all copies');
});

test('the administrator of an account sees what it held, and nothing of another', async (t) => {
  const array = await testObjects(t);
  const [one, other] = [await array.account('one'), await array.account('other')];
  const person = await array.user(one, 'ana', 'account_admin');
  const client = array.client.with({ 'x-access-key': person.key });
  assert.equal((await client.call(accounts.capacity, { id: one })).objects.at(-1)?.used_bytes, 0);
  assert.equal((await client.refused(accounts.capacity, { id: other })).code, ACCOUNT_NOT_FOUND);
  await client.refused(policies.capacity, { id: 'policy-00000001' });
});
