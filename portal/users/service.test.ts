import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refused, startTestPortal, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, name, send, person } = portal;
const PASSWORD = 'correct horse battery';

async function newUser(changes: Partial<Parameters<typeof admin.client.users.create>[0]> = {}): Promise<Person> {
  const { data } = await admin.client.users.create({ username: name('user'), password: PASSWORD, ...changes });
  return person(data.username, PASSWORD);
}

const basic = async (username: string, password: string) => {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return (await send(undefined, { method: 'GET', path: '/api/arrays', headers: { authorization } })).status;
};

test('a new user has the role user, needs approval, and signs in at once', async () => {
  const username = name('user');
  const { data } = await admin.client.users.create({ username, password: PASSWORD, email: 'ann@example.org' });
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = data;
  assert.deepEqual(rest, {
    username,
    email: 'ann@example.org',
    role: 'user',
    auto_approved: false,
    enabled: true,
    locked: false,
    totp: false,
  });
  assert.match(createdAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  assert.equal(updatedAt, createdAt);
  assert.equal(await basic(username, PASSWORD), 200);
  assert.deepEqual((await admin.client.users.get({ id })).data, data);
});

test('no reply about a user carries a password, its hash or a token', async () => {
  const user = await newUser();
  const list = await send(admin, { method: 'GET', path: '/api/users' });
  const single = await send(admin, { method: 'GET', path: `/api/users/${user.id}` });
  for (const { text } of [list, single]) assert.doesNotMatch(text, /scrypt|password|token/);
});

test('a name is taken in whatever case of letters it is written', async () => {
  const { username } = await newUser();
  await refused(newUser({ username: username.toUpperCase() }), 409, /is taken; choose another/);
});

test('two users of one name at the same time make one user', async () => {
  const username = name('user');
  const results = await Promise.allSettled([newUser({ username }), newUser({ username }), newUser({ username })]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a new password counts at once, and revokes the old one and the token', async () => {
  const user = await newUser();
  assert.equal(await basic(user.username, PASSWORD), 200);
  await admin.client.users.update({ id: user.id, password: 'another horse battery' });
  assert.equal(await basic(user.username, PASSWORD), 401);
  assert.equal(await basic(user.username, 'another horse battery'), 200);
  await refused(user.client.arrays.list(), 401, /Invalid credentials/);
  const { data } = await user.client.tokens.get({ username: user.username, password: 'another horse battery' });
  assert.notEqual(data.token, user.token);
});

test('a change without a password leaves the token as it was', async () => {
  const user = await newUser();
  await admin.client.users.update({ id: user.id, auto_approved: true });
  assert.deepEqual((await user.client.arrays.list()).data, []);
});

test('revoking tokens ends the one in use; the password gets another', async () => {
  const user = await newUser();
  assert.deepEqual((await user.client.arrays.list()).data, []);
  await admin.client.users.revokeTokens({ id: user.id });
  await refused(user.client.arrays.list(), 401, /Invalid credentials/);
  const again = person(user.username, PASSWORD);
  assert.deepEqual((await again.client.arrays.list()).data, []);
});

test('a disabled user is out from the next request on, keeps the arrays, and is back when enabled', async () => {
  const user = await newUser({ auto_approved: true });
  const { id: arrayId } = await portal.array(user);
  const { data: disabled } = await admin.client.users.disable({ id: user.id });
  assert.deepEqual([disabled.enabled, disabled.locked], [false, true]);
  await refused(user.client.arrays.list(), 403, /is disabled; ask an administrator/);
  assert.equal(await basic(user.username, PASSWORD), 403);
  assert.equal(await basic(user.username, 'a wrong password'), 401, 'who does not know the password learns nothing');
  const credentials = { username: user.username, password: PASSWORD };
  await refused(admin.client.tokens.get(credentials), 403, /is disabled/);
  await refused(admin.client.tokens.reset(credentials), 403, /is disabled/);
  const { data: array } = await admin.client.arrays.get({ array_id: arrayId });
  assert.equal(array.status, 'created');
  await admin.client.users.disable({ id: user.id });
  const { data: enabled } = await admin.client.users.enable({ id: user.id });
  assert.deepEqual([enabled.enabled, enabled.locked], [true, false]);
  assert.equal((await user.client.arrays.list()).data.length, 1);
});

test('an administrator cannot disable themselves, and a disabled one does not count as one who is left', async () => {
  await refused(admin.client.users.disable({ id: admin.id }), 409, /You cannot disable yourself/);
  const second = await newUser({ role: 'admin' });
  await admin.client.users.disable({ id: second.id });
  await refused(admin.client.users.update({ id: admin.id, role: 'user' }), 409, /last administrator/);
  await refused(admin.client.users.delete({ id: admin.id }), 409, /last administrator/);
  await admin.client.users.delete({ id: second.id });
});

test('locked is true while too many wrong passwords keep a user out, and false after it', async () => {
  const user = await newUser();
  for (let guess = 0; guess < 10; guess += 1) await basic(user.username, `guess-${guess}`);
  assert.equal(await basic(user.username, PASSWORD), 429);
  const { data } = await admin.client.users.get({ id: user.id });
  assert.deepEqual([data.enabled, data.locked], [true, true]);
});

test('a role that is taken away counts for the very next request', async () => {
  const user = await newUser({ role: 'admin' });
  assert.ok((await user.client.users.list()).data.length > 0);
  await admin.client.users.update({ id: user.id, role: 'user' });
  await refused(user.client.users.list(), 403, /needs the role admin/);
  assert.equal(await basic(user.username, PASSWORD), 200);
});

test('auto-approval that is given counts for the very next order', async () => {
  const user = await newUser();
  await admin.client.users.update({ id: user.id, auto_approved: true });
  await user.client.computes.create({ provider_id: 1, display_name: 'farm' });
  const { data } = await user.client.arrayRequests.list();
  assert.deepEqual(
    data.map(({ status }) => status),
    ['approved'],
  );
});

test('a change leaves what it does not name as it was', async () => {
  const user = await newUser({ email: 'ann@example.org', auto_approved: true });
  const { data } = await admin.client.users.update({ id: user.id, email: 'ann@example.net' });
  assert.deepEqual(
    [data.email, data.role, data.auto_approved, data.username],
    ['ann@example.net', 'user', true, user.username],
  );
  assert.equal(await basic(user.username, PASSWORD), 200);
});

test('the last administrator can be neither removed nor made a user', async () => {
  await refused(admin.client.users.delete({ id: admin.id }), 409, /admin is the last administrator; make another/);
  await refused(admin.client.users.update({ id: admin.id, role: 'user' }), 409, /last administrator/);
  const second = await newUser({ role: 'admin' });
  await second.client.users.update({ id: admin.id, role: 'user' });
  await refused(second.client.users.delete({ id: second.id }), 409, /last administrator/);
  await second.client.users.update({ id: admin.id, role: 'admin' });
  await admin.client.users.delete({ id: second.id });
});

test('of two administrators who remove each other at the same time one stays', async () => {
  const [a, b] = [await newUser({ role: 'admin' }), await newUser({ role: 'admin' })];
  await admin.client.users.update({ id: admin.id, role: 'user' });
  const results = await Promise.allSettled([a.client.users.delete({ id: b.id }), b.client.users.delete({ id: a.id })]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  const left = results[0].status === 'fulfilled' ? a : b;
  await left.client.users.update({ id: admin.id, role: 'admin' });
  await admin.client.users.delete({ id: left.id });
});

test('a user who is removed is out at once, with token and with password', async () => {
  const user = await newUser();
  assert.equal(await basic(user.username, PASSWORD), 200);
  await admin.client.users.delete({ id: user.id });
  await refused(user.client.arrays.list(), 401, /Invalid credentials/);
  assert.equal(await basic(user.username, PASSWORD), 401);
  await refused(admin.client.users.get({ id: user.id }), 404, /There is no user/);
});

test('a user with an array is not removed; after it is deleted the bills keep the name, and the name is free', async () => {
  const user = await newUser({ auto_approved: true });
  const { id } = await portal.array(user);
  await refused(admin.client.users.delete({ id: user.id }), 409, /is in use: 1 arrays, accounts or networks/);
  await user.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  await admin.client.users.delete({ id: user.id });
  await refused(user.client.arrays.list(), 401, /Invalid credentials/);
  await refused(admin.client.users.get({ id: user.id }), 404, /There is no user/);
  assert.ok((await admin.client.users.list()).data.every(({ username }) => username !== user.username));
  const next = await newUser({ username: user.username });
  assert.notEqual(next.id, user.id);
  assert.deepEqual((await next.client.arrays.list()).data, [], 'the new one has nothing of the old one');
});

test('a user with a network is removed only after it', async () => {
  const user = await newUser();
  const id = await portal.network(user);
  await refused(admin.client.users.delete({ id: user.id }), 409, /in use/);
  const { data } = await user.client.virtualNetworks.list();
  await user.client.virtualNetworks.delete({ id, provider_id: 1, vlan: data[0]!.vlan_id });
  await admin.client.users.delete({ id: user.id });
});

test('lists come in pages, with the count of all in a header', async () => {
  const { data: all } = await admin.client.users.list();
  const page = await send(admin, { method: 'GET', path: '/api/users?start=1&limit=2' });
  assert.deepEqual(page.json()['data'], all.slice(1, 3));
  assert.equal(Number(page.headers['x-total-count']), all.length);
  assert.deepEqual((await admin.client.users.list({ limit: 0 })).data, all);
  assert.deepEqual((await admin.client.users.list({ start: 100_000 })).data, []);
});
