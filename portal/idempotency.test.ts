import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { blockOrder, startTestPortal, type Person } from './testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { friend, owner, admin, name } = portal;

const order = (person: Person, array: string, key: string, changes = {}) =>
  portal.send(person, {
    method: 'POST',
    path: '/api/arrays',
    headers: { 'idempotency-key': key },
    body: { ...blockOrder, name: array, ...changes },
  });

const countOf = async ({ client }: Person, array: string) => (await client.arrays.list({ name: array })).data.length;

test('an order with a key is placed once, and a repeat gets the first answer to the letter', async () => {
  const [array, key] = [name('tank'), name('key')];
  const first = await order(friend, array, key);
  assert.equal(first.status, 200, first.text);
  await portal.until(portal.idOf(friend, array), 'created');
  const again = await order(friend, array, key);
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
  assert.equal(await countOf(friend, array), 1);
});

test('the same order many times at the same time makes one array and one answer', async () => {
  const [array, key] = [name('tank'), name('key')];
  const answers = await Promise.all(Array.from({ length: 20 }, () => order(friend, array, key)));
  assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assert.equal(answers[0]?.status, 200);
  assert.equal(await countOf(friend, array), 1);
  const requests = (await friend.client.arrayRequests.list()).data.filter((request) => request.name === array);
  assert.equal(requests.length, 1);
});

test('a key that comes with another order is refused and acts on nothing', async () => {
  const [array, key] = [name('tank'), name('key')];
  await order(friend, array, key);
  const other = await order(friend, name('tank'), key);
  assert.equal(other.status, 422);
  assert.match(other.text, new RegExp(`Idempotency-Key ${key} was used with another request`));
});

test('a refusal is repeated as well', async () => {
  const [array, key] = [name('tank'), name('key')];
  const first = await order(friend, array, key, { engine: 'engine_xl' });
  assert.equal(first.status, 400);
  const again = await order(friend, array, key, { engine: 'engine_xl' });
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
});

test('keys belong to the user who sent them', async () => {
  const [array, key] = [name('tank'), name('key')];
  await order(friend, array, key);
  const other = await order(admin, array, key);
  assert.equal(other.status, 200, other.text);
  assert.notEqual(portal.idOf(admin, array), portal.idOf(friend, array));
});

test('without a key, the second order of a name is refused as such', async () => {
  const array = name('tank');
  const ask = () => portal.send(owner, { method: 'POST', path: '/api/arrays', body: { ...blockOrder, name: array } });
  assert.equal((await ask()).status, 200);
  const again = await ask();
  assert.equal(again.status, 409);
  assert.match(again.text, /is taken/);
});
