import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

/** Browsers that sign in at a block array, over HTTP. */
const array = await testArray({ after }, { drives: 2 });
const { client, configuration } = array;
const { users, controllers, settings, messages, sessions } = arrayApi.groups;
const PASSWORD = 'correct horse battery';
let names = 0;

interface Reply {
  readonly status: number;
  readonly message?: string;
  readonly [field: string]: unknown;
}

async function request(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
  const answer = await fetch(`${configuration.managementUrl}/api${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { response } = (await answer.json()) as { response: Reply };
  return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', response };
}

async function signIn(username: string, password = PASSWORD) {
  const { cookie, response } = await request('POST', '/sessions', {}, { username, password });
  assert.equal(response.status, 0, response.message);
  const { csrf_token: csrf, id } = response['session'] as { csrf_token: string; id: number };
  const ask = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    request(method, path, { cookie, ...(method !== 'GET' && { 'x-csrf-token': csrf }), ...headers }, body);
  const isSignedIn = async () => (await ask('GET', '/sessions/current')).response.status === 0;
  return { cookie, id, ask, isSignedIn };
}

async function newUser(): Promise<string> {
  const username = `user-${++names}`;
  await client.call(users.create, { username, password: PASSWORD });
  return username;
}

test('a browser acts as its user, changes with its token alone, and signs out', async () => {
  const username = await newUser();
  const { cookie, ask, isSignedIn } = await signIn(username);
  assert.match(cookie, new RegExp(`^granary_array_${configuration.internalName}=`));
  const { response } = await ask('GET', '/sessions/current');
  assert.equal((response['session'] as { username: string }).username, username);
  const path = '/users/password';
  const change = { password: PASSWORD, new_password: `${PASSWORD} 2` };
  const forged = await request('POST', path, { cookie }, change);
  assert.match(forged.response.message ?? '', /X-CSRF-Token/);
  assert.equal((await ask('DELETE', `/users/${username}`)).response.status, 6, 'needs an administrator');
  await ask('DELETE', '/sessions/current');
  assert.equal(await isSignedIn(), false);
  const { response: refused } = await request('POST', '/sessions', {}, { username, password: 'wrong' });
  assert.equal(refused.status, 5);
});

test('users change their own password and stay signed in, but for their other browsers', async () => {
  const username = await newUser();
  const [here, there] = [await signIn(username), await signIn(username)];
  const change = { password: PASSWORD, new_password: `${PASSWORD} 2` };
  assert.equal((await here.ask('POST', '/users/password', change)).response.status, 0);
  assert.deepEqual([await here.isSignedIn(), await there.isSignedIn()], [true, false]);
});

const endings: readonly (readonly [string, (name: string) => Promise<unknown>])[] = [
  ['is removed', (name) => client.call(users.delete, { name })],
  ['is given another password', (name) => client.call(users.update, { name, password: 'another password' })],
  ['is given another key', (name) => client.call(users.resetAccessKey, { name })],
];

for (const [what, end] of endings) {
  test(`the sessions of a user who ${what} are over with the next request`, async () => {
    const username = await newUser();
    const { isSignedIn } = await signIn(username);
    await end(username);
    assert.equal(await isSignedIn(), false);
  });
}

test('users see and end their own sessions, an administrator those of all', async () => {
  const [one, two] = [await signIn(await newUser()), await signIn(await newUser())];
  const list = async (path: string) =>
    ((await one.ask('GET', path)).response['sessions'] as { id: number }[]).map(({ id }) => id);
  assert.deepEqual([await list('/sessions'), await list('/sessions?all=true')], [[one.id], [one.id]]);
  assert.equal((await one.ask('DELETE', `/sessions/${two.id}`)).response.status, 18);
  const all = await client.call(sessions.list, { all: true });
  assert.ok(all.sessions.some(({ id }) => id === two.id));
  await client.call(sessions.delete, { id: two.id });
  assert.deepEqual([await one.isSignedIn(), await two.isSignedIn()], [true, false]);
});

test('sessions outlive a restart of the array, and one that was signed out does not come back', async () => {
  const username = await newUser();
  const [stays, leaves] = [await signIn(username), await signIn(username)];
  await leaves.ask('DELETE', '/sessions/current');
  await array.restart();
  assert.deepEqual([await stays.isSignedIn(), await leaves.isSignedIn()], [true, false]);
});

test('a page sees no CHAP secret until it asks for it, and asking is an event', async () => {
  const { owner, initialPasscode } = configuration;
  const { ask } = await signIn(owner, initialPasscode);
  const secrets = async (headers = {}) => {
    const { response } = await ask('GET', '/vcontrollers', undefined, headers);
    return (response['vcontrollers'] as { array_chap_secret: string }[]).map((one) => one.array_chap_secret);
  };
  const { vcontrollers } = await client.call(controllers.list, {});
  const real = vcontrollers.map(({ array_chap_secret: secret }) => secret);
  assert.ok(real.every((secret) => secret !== ''));
  assert.deepEqual(
    await secrets(),
    real.map(() => ''),
  );
  assert.deepEqual(await secrets({ 'x-reveal-secrets': '1' }), real);
  const ofOwner = { attr_key: 'user', attr_value: owner, limit: 1 };
  const { messages: found } = await client.call(messages.list, ofOwner);
  assert.match(found[0]?.msg_title ?? '', new RegExp(`^${owner} looked at the CHAP secret of controller`));
});

test('the settings of the array say how long sessions last', async () => {
  await client.call(settings.setSessions, { idle_minutes: 10, hours_max: 2 });
  const { idle_minutes, hours_max } = await client.call(settings.getSessions, {});
  assert.deepEqual([idle_minutes, hours_max], [10, 2]);
  const { ask } = await signIn(await newUser());
  const { session } = (await ask('GET', '/sessions/current')).response as unknown as {
    session: { idle_minutes: number; created_at: string; expires_at: string };
  };
  assert.equal(session.idle_minutes, 10);
  assert.equal(Date.parse(session.expires_at) - Date.parse(session.created_at), 2 * 3_600_000);
});
