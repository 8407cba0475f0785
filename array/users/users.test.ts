import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

const { users, drives, messages, servers, volumes } = arrayApi.groups;

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
  const { user: back } = await anybody.call(users.login, { user: 'jo', password: 'second of jo' });
  const changedJo = anybody.with({ 'x-access-key': back.access_key });
  await changedJo.call(users.update, { name: 'dana', role: 'user' });
  assert.equal((await client.refused(users.list, { limit: 'x' as never })).code, 7);
  await changedJo.call(users.delete, { name: 'dana' });
  assert.equal((await client.refused(drives.list, {})).code, 5, 'the key of a removed user opens nothing');
  const { messages: reported } = await changedJo.call(messages.list, { attr_key: 'user' });
  const titles = reported.map(({ msg_title }) => msg_title).filter((title) => !title.includes('signed in'));
  assert.deepEqual(titles, [
    'User dana was removed.',
    'User dana was changed: role (user).',
    'User jo was changed: password, mail address, role (admin).',
    'User jo was created.',
  ]);
});

test('an array keeps an administrator, and no user removes themselves', async (t) => {
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

test('a new password replaces the access key, the same one again does not', async (t) => {
  const { client, anybody } = await testArray(t, { drives: 2 });
  const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  await jo.call(users.changePassword, { password: 'first of jo', new_password: 'first of jo' });
  assert.equal((await jo.call(drives.list, {})).count, 2);
  await jo.call(users.changePassword, { password: 'first of jo', new_password: 'second of jo' });
  assert.equal((await jo.refused(drives.list, {})).code, 5);
  const { user: again } = await anybody.call(users.login, { user: 'jo', password: 'second of jo' });
  const back = anybody.with({ 'x-access-key': again.access_key });
  await client.call(users.update, { name: 'jo', password: 'third of jo' });
  assert.equal((await back.refused(drives.list, {})).code, 5);
});

test('what a removed user created is left to administrators, also when the name comes back', async (t) => {
  const { client, anybody, pool } = await withPool(t);
  const make = async () => {
    const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
    return anybody.with({ 'x-access-key': user.access_key });
  };
  const jo = await make();
  const { vol_name } = await jo.call(volumes.create, { name: 'mine', capacity: '10M', pool } as never);
  await jo.call(volumes.updateComment, { id: vol_name, new_comment: 'mine' });
  await client.call(users.delete, { name: 'jo' });
  const again = await make();
  const refused = await again.refused(volumes.delete, { id: vol_name });
  assert.deepEqual(
    [refused.code, refused.message],
    [6, `Your role does not allow this; it needs the role admin, because another user created mine (${vol_name}).`],
  );
  await client.call(volumes.updateComment, { id: vol_name, new_comment: 'the administrator may' });
});

async function withPool(t: TestContext) {
  const array = await testArray(t, { drives: 2 });
  return { client: array.client, anybody: array.anybody, pool: await array.pool() };
}

test('a user takes over no initiator, no server and no migration of another', async (t) => {
  const { client, anybody, pool } = await withPool(t);
  const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  const iqn = 'iqn.2026-01.org.example:web';
  const { server_name: theirs } = await client.call(servers.create, { display_name: 'web', iqn });
  const twin = { display_name: 'twin', iqn, iscsi: '0.0.0.0/0', force: true };
  assert.equal((await jo.refused(servers.create, twin)).code, 6);
  assert.equal((await jo.refused(servers.create, { display_name: 'any', iscsi: '10.0.0.0/8' })).code, 6);
  const { server_name: own } = await jo.call(servers.create, { display_name: 'jo', iqn: 'iqn.2026-01.org.example:jo' });
  assert.equal((await jo.refused(servers.update, { id: own, iqn, force: true })).code, 6);
  const { vol_name } = await jo.call(volumes.create, { name: 'mine', capacity: '10M', pool } as never);
  assert.equal((await jo.refused(servers.attachVolumes, { id: [theirs], volume_name: [vol_name] })).code, 6);
  await jo.call(servers.attachVolumes, { id: [own], volume_name: [vol_name] });
});

test('a user without a key gets a new one by name and password, and may not replace that of another', async (t) => {
  const { client, anybody } = await testArray(t, { drives: 2 });
  const { user } = await client.call(users.create, { username: 'jo', password: 'first of jo' });
  const wrong = { name: 'jo', password: 'not this one' };
  assert.equal((await anybody.refused(users.resetAccessKey, wrong)).code, 5);
  assert.equal((await anybody.refused(users.resetAccessKey, { name: 'jo' })).code, 5);
  const { user: renewed } = await anybody.call(users.resetAccessKey, { name: 'jo', password: 'first of jo' });
  assert.notEqual(renewed.access_key, user.access_key);
  const jo = anybody.with({ 'x-access-key': renewed.access_key });
  assert.equal((await jo.call(drives.list, {})).count, 2);
  assert.equal((await jo.refused(users.resetAccessKey, { name: 'dana' })).code, 6);
  const again = await jo.call(users.resetAccessKey, { name: 'jo' });
  assert.equal((await jo.refused(drives.list, {})).code, 5, 'the old key opens nothing');
  assert.notEqual(again.user.access_key, renewed.access_key);
  const path = { name: 'jo', password: 'first of jo' } as never;
  assert.equal((await anybody.refused(drives.list, path)).code, 5, 'a password opens no other call');
});
