import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestPortal, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());
const { admin, friend, owner, otherUser } = portal;

const find = async (person: Person, q: string, limit?: number) =>
  (await person.client.search.find({ q, ...(limit !== undefined && { limit }) })).data;
const named = async (person: Person, q: string) => (await find(person, q)).map(({ kind, name }) => `${kind} ${name}`);

test('an array is found by its name, its internal name and its address, by its owner and by administrators only', async () => {
  const { id, name } = await portal.array(friend, { name: 'Ledger' });
  const { data } = await friend.client.arrays.get({ array_id: id });
  for (const q of ['ledg', 'LEDGER', data.internal_name ?? '?', data.ip_address ?? '?'])
    for (const person of [friend, admin])
      assert.ok(
        (await find(person, q)).some((found) => found.kind === 'arrays' && found.id === String(id)),
        q,
      );
  assert.deepEqual(await named(otherUser, name), []);
  const [found] = await find(friend, 'ledger');
  assert.deepEqual(found, { kind: 'arrays', id: String(id), name, detail: 'Storage array · created' });
});

test('users and webhooks are found by administrators, clouds and providers by all', async () => {
  await admin.client.webhooks.create({ name: 'stranger-hook', target_url: 'http://127.0.0.1:9/hooks' });
  assert.deepEqual(await named(admin, 'stranger'), ['users stranger', 'webhooks stranger-hook']);
  assert.deepEqual(await named(friend, 'stranger'), []);
  assert.deepEqual((await named(friend, 'local')).sort(), ['clouds local', 'providers local']);
});

test('networks, requests and accounts are found by those they belong to', async () => {
  await portal.network(owner, { name: 'backbone' });
  await owner.client.arrays.create({
    name: 'backbone-store',
    moderate: true,
    provider: 'local',
    engine: 'engine_medium',
    drives: { SSD_10GB: 2 },
  });
  assert.deepEqual(await named(owner, 'backbone'), [
    'networks backbone',
    'arrays backbone-store',
    'requests backbone-store',
  ]);
  assert.deepEqual(await named(otherUser, 'backbone'), []);
});

test('the best results are kept by a limit', async () => {
  for (const name of ['a-tape', 'tape', 'tapestry']) await portal.array(friend, { name });
  assert.deepEqual(
    (await find(friend, 'tape', 2)).map(({ name }) => name),
    ['tape', 'tapestry'],
  );
});

test('what people type is text: no pattern, no SQL', async () => {
  for (const q of ['%', '_____', "' OR 1=1 --", '\\']) assert.deepEqual(await named(friend, q), [], q);
});
