import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

const { users, drives, messages } = arrayApi.groups;

test('users are changed and removed by administrators, and each change is on record', async (t) => {
  const { client, anybody } = await testArray(t, { drives: 2 });
  const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  assert.equal((await jo.refused(users.update, { name: 'jo', role: 'admin' })).code, 6);
  assert.equal((await jo.refused(users.delete, { name: 'dana' })).code, 6);
  const change = { name: 'JO', email: 'jo@example.org', role: 'admin' as const, password: 'second of jo' };
  const { user: changed } = await client.call(users.update, change);
  assert.deepEqual([changed.username, changed.email, changed.role], ['jo', 'jo@example.org', 'admin']);
  assert.equal((await anybody.refused(users.login, { user: 'jo', password: 'first of jo' })).code, 5);
  await anybody.call(users.login, { user: 'jo', password: 'second of jo' });
  await jo.call(users.update, { name: 'dana', role: 'user' });
  assert.equal((await client.refused(users.list, { limit: 'x' as never })).code, 7);
  await jo.call(users.delete, { name: 'dana' });
  assert.equal((await client.refused(drives.list, {})).code, 5, 'the key of a removed user opens nothing');
  const { messages: told } = await jo.call(messages.list, { attr_key: 'user' });
  const titles = told.map(({ msg_title }) => msg_title).filter((title) => !title.includes('signed in'));
  assert.deepEqual(titles, [
    'User dana was removed.',
    'User dana was changed: role (user).',
    'User jo was changed: password, mail address, role (admin).',
    'User jo was created.',
  ]);
});

test('an array keeps an administrator, and nobody removes themselves', async (t) => {
  const { client, anybody, configuration } = await testArray(t, { drives: 2 });
  const portal = anybody.with({ 'x-access-key': configuration.internalKey });
  const last = 'User dana is the last administrator; make another one first.';
  for (const refused of [
    await portal.refused(users.delete, { name: 'dana' }),
    await client.refused(users.update, { name: 'dana', role: 'user' }),
  ])
    assert.deepEqual([refused.code, refused.message], [10100, last]);
  await client.call(users.create, { username: 'jo', role: 'admin' });
  const own = await client.refused(users.delete, { name: 'dana' });
  assert.deepEqual([own.code, own.message], [10100, 'You cannot remove yourself; ask another administrator.']);
  assert.equal((await client.refused(users.delete, { name: 'eve' })).code, 10093);
  assert.equal((await client.refused(users.update, { name: 'eve' })).code, 10093);
  const short = await client.refused(users.update, { name: 'jo', password: 'short' });
  assert.deepEqual([short.code, short.message], [7, 'password must have at least 8 characters.']);
});

test('users change their own password when they know the one before', async (t) => {
  const { client, anybody, configuration } = await testArray(t, { drives: 2 });
  const wrong = { password: 'not this', new_password: 'another one' };
  assert.equal((await client.refused(users.changePassword, wrong)).code, 5);
  const right = { password: configuration.initialPasscode, new_password: 'another one' };
  await client.call(users.changePassword, right);
  assert.equal((await anybody.refused(users.login, { user: 'dana', password: right.password })).code, 5);
  const { user } = await anybody.call(users.login, { user: 'dana', password: 'another one' });
  assert.equal((await anybody.with({ 'x-access-key': user.access_key }).call(drives.list, {})).count, 2);
  const portal = anybody.with({ 'x-access-key': configuration.internalKey });
  assert.equal((await portal.refused(users.changePassword, right)).code, 10093);
});
