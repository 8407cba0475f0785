import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { startWalk } from '../testing/walk.ts';

const { search, accounts } = objectsApi.groups;
const walk = await startWalk({ after });
const { accountAdmin, member, stranger } = walk.people;

const find = async (key: string, q: string, limit?: number) => {
  const client = walk.objects.anonymous.with({ 'x-access-key': key });
  return (await client.call(search.find, { q, ...(limit !== undefined && { limit }) })).results;
};
const named = async (key: string, q: string) => (await find(key, q)).map(({ kind, name }) => `${kind} ${name}`);

test("an administrator finds what the array has, an account's administrator what is in the account, a member nothing", async () => {
  const { key } = walk.admin;
  assert.deepEqual(await named(key, 'webhost'), ['accounts webhosting']);
  assert.deepEqual(await named(key, 'ada'), ['users ada']);
  assert.ok((await named(key, 'volume-')).some((found) => found.startsWith('drives ')));
  assert.ok((await find(key, 'policy-')).some(({ kind }) => kind === 'policies'));
  assert.deepEqual(await named(accountAdmin.key, 'ada'), ['users ada']);
  assert.deepEqual(await named(accountAdmin.key, 'eve'), []);
  assert.deepEqual(await named(accountAdmin.key, 'policy-'), []);
  assert.deepEqual(await named(stranger.key, 'webhost'), []);
  assert.deepEqual(await named(member.key, 'ada'), []);
});

test('the best are kept by a limit', async () => {
  for (const name of ['a-tape', 'tapestry', 'tape']) await walk.client.call(accounts.create, { name });
  const found = await find(walk.admin.key, 'tape', 2);
  assert.deepEqual(
    found.map(({ name }) => name),
    ['tape', 'tapestry'],
  );
});
