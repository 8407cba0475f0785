import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiError, arrayClient } from '@granary/client';
import { arrayApi } from '@granary/contract/array';
import { followChanges } from '../../kernel/http/testing/follow.ts';
import { until } from '../../testing/waiting.ts';
import { testArray } from '../../array/testing/test-array.ts';
import { startTestPortal, type Person } from '../testing/portal.ts';

/**
 * Goal: who comes through the portal is at the array the user of the same name, or has no access; and what is the portal's
 * stays there.
 * Method: a portal on a cloud in memory, whose record of an array leads to a real one.
 */
const INTERNAL_KEY = 'the key of portal and array';
const portal = await startTestPortal();
after(() => portal.stop());
const array = await testArray({ after }, { internalKey: INTERNAL_KEY, owner: 'owner', drives: 2 });
await array.client.call(arrayApi.groups.users.create, {
  username: 'admin',
  password: 'Some-Passw0rd',
  role: 'user',
});
portal.cloud.managementUrl = array.configuration.managementUrl;
const id = await ordered(portal.owner);

/** An array whose record leads to the real one, and says the key that one knows. */
async function ordered(person: Person): Promise<number> {
  const { id: number } = await portal.array(person);
  const key = portal.tools.vault.seal(INTERNAL_KEY);
  await portal.store.write((tx) => {
    tx.run('UPDATE arrays SET internal_key_sealed = :key WHERE id = :number', { key, number });
  });
  return number;
}

function via(person: Person | undefined, path: string, init: RequestInit = {}, number = id): Promise<Response> {
  const headers = { ...(person && { 'x-token': person.token }), ...(init.headers as Record<string, string>) };
  return fetch(`${portal.url}/via/${number}${path}`, { ...init, headers });
}

interface Said {
  readonly response: { readonly status: number; readonly message?: string } & Record<string, unknown>;
}

async function said(answer: Response): Promise<Said['response']> {
  return ((await answer.json()) as Said).response;
}

test('the owner of an array is its user of the same name, with the rights of that user', async () => {
  const client = arrayClient({
    url: `${portal.url}/via/${id}`,
    fetch: (input, init) => {
      const request = new Request(input, init);
      request.headers.set('x-token', portal.owner.token);
      return fetch(request);
    },
  });
  const { disks } = await client.drives.list({});
  assert.equal(disks.length, 2);
  await client.users.create({ username: 'kim', password: 'Some-Passw0rd', role: 'user' });
  const { messages } = await client.messages.list({});
  assert.ok(messages.some((one) => /User owner signed in through the portal\./.test(JSON.stringify(one))));
  await client.users.delete({ name: 'kim' });
  await assert.rejects(client.users.delete({ name: 'nobody' }), ApiError);
});

test('an administrator of the portal has the rights of their user there, and no more', async () => {
  const listed = await said(await via(portal.admin, '/api/drives'));
  assert.equal(listed.status, 0);
  const refused = await said(await via(portal.admin, '/api/users', { method: 'POST', body: 'username=x&role=admin' }));
  assert.equal(refused.status, 6);
});

test('a browser behind the portal sees secrets of an array only where it asks for them, and that is an event', async () => {
  const { username, password } = portal.owner;
  const begun = await fetch(`${portal.url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const secretSeen = async (headers: Record<string, string>) => {
    const answer = await fetch(`${portal.url}/via/${id}/api/vcontrollers`, { headers });
    const { vcontrollers } = (await said(answer)) as unknown as { vcontrollers: { array_chap_secret: string }[] };
    return vcontrollers[0]?.array_chap_secret;
  };
  assert.equal(await secretSeen({ cookie }), '');
  const shown = await secretSeen({ cookie, 'x-reveal-secrets': '1' });
  assert.match(shown ?? '', /^.{12,16}$/);
  assert.equal(await secretSeen({ 'x-token': portal.owner.token }), shown, 'a program sees what it always saw');
  const { response } = (await (await via(portal.owner, '/api/messages')).json()) as Said;
  assert.match(JSON.stringify(response), /CHAP secret/);
});

test('the array of another is not found, and who has no user in an array sees its record only', async () => {
  const foreign = await said(await via(portal.otherUser, '/api/drives'));
  assert.deepEqual([foreign.status, foreign.message], [20001, `There is no array ${id}.`]);
  const { data: mine } = await portal.owner.client.arrays.getIdentity({ array_id: id });
  assert.deepEqual([mine.known, mine.username, mine.role], [true, 'owner', 'admin']);
  const other = await ordered(portal.friend);
  const { data: none } = await portal.friend.client.arrays.getIdentity({ array_id: other });
  assert.equal(none.known, false);
  assert.match(none.message ?? '', /no user friend/);
  const refused = await said(await via(portal.friend, '/api/drives', {}, other));
  assert.deepEqual([refused.status, refused.message], [20021, none.message]);
});

test('without a sign-in nothing is passed on, nor anything but the two doors', async () => {
  assert.equal((await said(await via(undefined, '/api/drives'))).status, 5);
  const headers = { 'x-access-key': array.user.access_key };
  assert.equal((await said(await via(undefined, '/api/drives', { headers }))).status, 5);
  for (const path of ['', '/metrics', '/apix', '/api/%2e%2e/metrics', '/api/a/%2E./b'])
    assert.equal((await via(portal.owner, path)).status, 404, path);
  const stored = await via(portal.owner, '/s3/bucket');
  assert.match(await stored.text(), /<Message>Array .* is not an object storage array\./);
});

test('a request whose key went with a restart of the array gets another one', async () => {
  assert.equal((await said(await via(portal.owner, '/api/drives'))).status, 0);
  await array.restart();
  assert.equal((await said(await via(portal.owner, '/api/drives'))).status, 0);
  await array.restart();
  const body = Buffer.from(
    `{"username":"jo","role":"user","password":"Some-Passw0rd","email":"${' '.repeat(300_000)}"}`,
  );
  const large = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  assert.equal((await said(await via(portal.owner, '/api/users', large))).status, 7);
  await array.stop();
  const message = new RegExp(`Array .* does not answer at ${array.configuration.managementUrl}`);
  assert.match((await said(await via(portal.owner, '/api/drives'))).message ?? '', message);
  await array.restart();
});

test('no key of a user opens the interface by which the portal gets its keys, that of the portal for them included', async () => {
  const body = new URLSearchParams({ username: 'owner' });
  const own = { method: 'POST', body, headers: { 'x-access-key': array.user.access_key } };
  assert.equal((await said(await fetch(`${array.configuration.managementUrl}/api/delegated_keys`, own))).status, 5);
  assert.equal((await said(await via(portal.owner, '/api/delegated_keys', { method: 'POST', body }))).status, 5);
  const document = await fetch(`${array.configuration.managementUrl}/api/openapi.json`);
  assert.doesNotMatch(await document.text(), /delegated_keys/);
});

test('when a session ends, its key is dropped at the array', async () => {
  const actor = { id: `user:${portal.owner.id}`, userId: portal.owner.id, username: 'owner', role: 'user' } as const;
  const { passage } = portal.services;
  const inSession = { ...actor, autoApproved: false, sessionId: 7 };
  const calls: string[] = [];
  const fetchToArray = portal.services.clouds.fetchToArray.bind(portal.services.clouds);
  portal.services.clouds.fetchToArray = (place) => (input, init) => {
    const request = new Request(input, init);
    calls.push(`${request.method} ${new URL(request.url).pathname.replace(/keys\/.+/, 'keys/x')}`);
    return fetchToArray(place)(input, init);
  };
  await passage.identity(inSession, id);
  await passage.identity(inSession, id);
  await passage.endSession(7);
  await passage.identity(inSession, id);
  const made = 'POST /api/delegated_keys';
  assert.deepEqual(calls, [made, 'DELETE /api/delegated_keys/x', made]);
});

test('what is under way for a user ends with their token and with their role, not only with a session', async (t) => {
  const username = portal.name('guest');
  const { data: user } = await portal.admin.client.users.create({ username, password: 'correct horse battery' });
  const guest = portal.person(username, 'correct horse battery');
  await array.client.call(arrayApi.groups.users.create, { username, password: 'Some-Passw0rd', role: 'user' });
  await portal.admin.client.users.update({ id: user.id, role: 'admin' });
  const follow = () => followChanges(t, `${portal.url}/via/${id}`, { 'x-token': guest.token });
  const asAdmin = await follow();
  await portal.admin.client.users.update({ id: user.id, role: 'user' });
  await until(() => asAdmin.hasEnded(), 'the array of another is out of reach again');
  await portal.admin.client.users.update({ id: user.id, role: 'admin' });
  const byToken = await follow();
  await portal.admin.client.users.disable({ id: user.id });
  await until(() => byToken.hasEnded(), 'a user who is disabled follows nothing');
});
