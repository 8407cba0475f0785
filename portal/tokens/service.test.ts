import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { refused, startTestPortal, type Answered, type Person, type TestPortal } from '../testing/portal.ts';

const clock = new ManualClock('2026-03-01T12:00:00Z');

async function start(t: TestContext): Promise<TestPortal> {
  const portal = await startTestPortal({ clock });
  t.after(() => portal.stop());
  return portal;
}

const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

function ask(portal: TestPortal, headers: Record<string, string>): Promise<Answered> {
  return portal.send(undefined, { method: 'GET', path: '/api/arrays', headers });
}

const signIn = ({ send }: TestPortal, username: string, password: string) =>
  send(undefined, { method: 'POST', path: '/api/token', body: { username, password } });

async function tokenOf(portal: TestPortal, { username, password }: Person): Promise<string> {
  const { status, json, text } = await signIn(portal, username, password);
  assert.equal(status, 200, text);
  return (json()['data'] as { token: string }).token;
}

test('a token stays the same until it is reset, and the old one stops working at once', async (t) => {
  const portal = await start(t);
  const { owner, send } = portal;
  const first = await tokenOf(portal, owner);
  assert.equal(await tokenOf(portal, owner), first);
  assert.equal((await ask(portal, { 'x-token': first })).status, 200);
  const body = { username: owner.username, password: owner.password };
  const reset = await send(undefined, { method: 'POST', path: '/api/token/reset', body });
  const { token } = reset.json()['data'] as { token: string };
  assert.notEqual(token, first);
  assert.equal((await ask(portal, { 'x-token': first })).status, 401);
  assert.equal((await ask(portal, basic(first, ''))).status, 401);
  assert.equal((await ask(portal, { 'x-token': token })).status, 200);
  assert.equal(await tokenOf(portal, owner), token);
});

test('a wrong password resets no token', async (t) => {
  const portal = await start(t);
  const { owner, send } = portal;
  const body = { username: owner.username, password: 'wrong' };
  assert.equal((await send(undefined, { method: 'POST', path: '/api/token/reset', body })).status, 401);
  assert.equal((await ask(portal, { 'x-token': owner.token })).status, 200);
});

test('resetting a token leaves those of others alone', async (t) => {
  const { owner, friend, send, ...portal } = await start(t);
  const body = { username: owner.username, password: owner.password };
  await send(undefined, { method: 'POST', path: '/api/token/reset', body });
  assert.equal((await ask({ ...portal, owner, friend, send }, { 'x-token': friend.token })).status, 200);
});

test('basic authentication takes name and password, or the token as the name', async (t) => {
  const portal = await start(t);
  const { owner, admin } = portal;
  assert.equal((await ask(portal, basic(owner.username, owner.password))).status, 200);
  assert.equal((await ask(portal, basic(owner.token, ''))).status, 200);
  assert.equal((await ask(portal, basic(owner.token, 'anything'))).status, 200);
  assert.equal(
    (await ask(portal, { authorization: `Basic ${Buffer.from(owner.token).toString('base64')}` })).status,
    200,
  );
  const users = { method: 'GET', path: '/api/users' } as const;
  const asOwner = await portal.send(undefined, { ...users, headers: basic(owner.username, owner.password) });
  const asAdmin = await portal.send(undefined, { ...users, headers: basic(admin.username, admin.password) });
  assert.deepEqual([asOwner.status, asAdmin.status], [403, 200]);
});

test('a wrong password, an unknown user and a credential that cannot be read are answered alike', async (t) => {
  const portal = await start(t);
  const { owner } = portal;
  const answers = [
    await ask(portal, basic(owner.username, 'wrong')),
    await ask(portal, basic('unknown-name', 'wrong')),
    await ask(portal, basic(owner.username, '')),
    await ask(portal, { authorization: 'Basic !!!' }),
    await ask(portal, { authorization: 'Bearer abc' }),
    await ask(portal, {}),
    await signIn(portal, 'another-unknown', 'wrong'),
  ];
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test('the username is the same in any case of letters, the password is not', async (t) => {
  const portal = await start(t);
  const { owner } = portal;
  assert.equal((await signIn(portal, owner.username.toUpperCase(), owner.password)).status, 200);
  assert.equal((await signIn(portal, owner.username, owner.password.toUpperCase())).status, 401);
});

test('many wrong passwords are slowed, then refused with a time to wait; the right one works again after it', async (t) => {
  const portal = await start(t);
  const { owner } = portal;
  const guess = (number: number) => signIn(portal, owner.username, `guess-${number}`);
  const startedAt = performance.now();
  const first = [await guess(1), await guess(2), await guess(3), await guess(4)];
  // The fourth is the first that waits.
  assert.ok(performance.now() - startedAt >= 100);
  const more = await Promise.all(Array.from({ length: 20 }, (_, index) => guess(10 + index)));
  assert.deepEqual(
    first.map(({ status }) => status),
    [401, 401, 401, 401],
  );
  const blocked = more.filter(({ status }) => status === 429);
  assert.equal(more.filter(({ status }) => status === 401).length, 6, 'ten are tried in all');
  assert.equal(blocked.length, 14);
  const wait = Number(blocked[0]?.headers['retry-after']);
  assert.ok(wait >= 1 && wait <= 15, `${wait} seconds`);
  assert.match(String(blocked[0]?.json()['message']), new RegExp(`try again in ${wait} seconds`));
  assert.equal((await signIn(portal, owner.username, owner.password)).status, 429, 'the right one too');
  assert.equal((await ask(portal, { 'x-token': owner.token })).status, 200, 'a token is not a guess');
  clock.advance(wait * 1000);
  assert.equal((await signIn(portal, owner.username, owner.password)).status, 200);
});

test('guesses at one user leave the others alone', async (t) => {
  const portal = await start(t);
  const { owner, friend } = portal;
  await Promise.all(Array.from({ length: 20 }, (_, number) => signIn(portal, owner.username, `guess-${number}`)));
  assert.equal((await signIn(portal, owner.username, owner.password)).status, 429);
  assert.equal((await signIn(portal, friend.username, friend.password)).status, 200);
});

test('one address that guesses at many users is refused as well', async (t) => {
  const portal = await start(t);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, number) => signIn(portal, `user-${number}`, 'guess')),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 401).length, 40);
  assert.equal(statuses.filter((status) => status === 429).length, 20);
});

test('right passwords that come at the same time are all let in', async (t) => {
  const portal = await start(t);
  const { owner, friend, otherUser } = portal;
  const people = [owner, friend, otherUser];
  const answers = await Promise.all(
    Array.from({ length: 90 }, (_, number) => {
      const { username, password } = people[number % 3] as Person;
      return number % 2 === 0 ? signIn(portal, username, password) : ask(portal, basic(username, password));
    }),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});

test('wrong passwords among right ones do not keep the right ones out before there are many', async (t) => {
  const portal = await start(t);
  const { owner } = portal;
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, number) =>
      signIn(portal, owner.username, number % 4 === 0 ? `guess-${number}` : owner.password),
    ),
  );
  const rights = answers.filter((_, number) => number % 4 !== 0);
  assert.deepEqual(new Set(rights.map(({ status }) => status)), new Set([200]));
});

test('signing in needs name and password, and the refusal names what is missing', async (t) => {
  const portal = await start(t);
  const { status, json } = await portal.send(undefined, { method: 'POST', path: '/api/token', body: {} });
  assert.equal(status, 400);
  assert.deepEqual(
    (json()['errors'] as { field: string }[]).map(({ field }) => field),
    ['username', 'password'],
  );
  await refused(portal.owner.client.tokens.get({ username: 'x', password: '' }), 400, /password is required/);
});
