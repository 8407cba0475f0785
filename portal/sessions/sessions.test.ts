import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { startTestPortal, type Person } from '../testing/portal.ts';

/** Browsers that sign in at the portal, over HTTP. */
const clock = new ManualClock(Date.now());
const portal = await startTestPortal({ clock });
after(() => portal.stop());
const { admin, owner, otherUser } = portal;

const PASSWORD = 'correct horse battery';
const ended: number[] = [];
portal.services.sessions.onEnded((id) => ended.push(id));

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

class Browser {
  readonly cookie: string;
  readonly csrf: string;
  readonly id: number;

  constructor(setCookie: string, session: { id: number; csrf_token: string }) {
    this.cookie = setCookie.split(';')[0] ?? '';
    this.csrf = session.csrf_token;
    this.id = session.id;
  }

  async ask(method: Method, path: string, payload?: object, headers: Record<string, string> = {}) {
    const own = { cookie: this.cookie, ...(method !== 'GET' && { 'x-csrf-token': this.csrf }), ...headers };
    const answer = await portal.inject({ method, url: `/api${path}`, headers: own, ...(payload && { payload }) });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Record<string, unknown>>() };
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.ask('GET', '/sessions/current')).status === 200;
  }
}

async function signIn({ username, password }: Pick<Person, 'username' | 'password'>, headers = {}): Promise<Browser> {
  const payload = { username, password };
  const answer = await portal.inject({ method: 'POST', url: '/api/sessions', payload, headers });
  assert.equal(answer.statusCode, 200, answer.body);
  const { session } = answer.json<{ session: { id: number; csrf_token: string } }>();
  return new Browser(String(answer.headers['set-cookie']), session);
}

async function newUser(): Promise<Person> {
  const username = portal.name('user');
  const { data } = await admin.client.users.create({ username, password: PASSWORD });
  return { ...portal.person(username, PASSWORD), id: data.id };
}

async function titles(): Promise<string[]> {
  return (await admin.client.events.list({ kind: 'user' })).data.map(({ msg_title }) => msg_title);
}

test('a browser acts as its user, and signing out ends that session alone', async () => {
  const [browser, second] = [await signIn(owner), await signIn(owner)];
  const { body } = await browser.ask('GET', '/sessions/current');
  const { session } = body as { session: Record<string, unknown> };
  assert.deepEqual(
    [session['username'], session['role'], session['user_id'], session['current'], session['csrf_token']],
    ['owner', 'user', owner.id, true, browser.csrf],
  );
  assert.equal((await browser.ask('GET', '/users')).status, 403);
  const out = await browser.ask('DELETE', '/sessions/current');
  assert.match(String(out.headers['set-cookie']), /^granary_portal=; .*Max-Age=0/);
  assert.deepEqual([await browser.isSignedIn(), await second.isSignedIn()], [false, true]);
  assert.ok(ended.includes(browser.id));
  const [last = '', before = ''] = await titles();
  assert.equal(last, 'owner signed out.');
  assert.match(before, /^owner signed in with a browser from 127\.0\.0\.1\.$/);
});

test('a change without the token of the session changes nothing, and its body is not read', async () => {
  const browser = await signIn(owner);
  const forged = await portal.inject({
    method: 'PUT',
    url: '/api/me',
    headers: { cookie: browser.cookie, 'content-type': 'application/json' },
    payload: '{"email": this cannot be read',
  });
  assert.equal(forged.statusCode, 403);
  assert.match(forged.body, /X-CSRF-Token/);
  const foreign = await browser.ask('PUT', '/me', { email: 'x@example.org' }, { origin: 'http://evil.example' });
  assert.equal(foreign.status, 403);
});

test('a page of another origin signs nobody in', async () => {
  const { username, password } = owner;
  const headers = { 'sec-fetch-site': 'cross-site' };
  const answer = await portal.inject({
    method: 'POST',
    url: '/api/sessions',
    headers,
    payload: { username, password },
  });
  assert.deepEqual([answer.statusCode, answer.headers['set-cookie']], [403, undefined]);
});

test('behind a proxy that ends TLS the cookie is for TLS alone', async () => {
  const headers = { origin: 'https://granary.example', host: 'granary.example' };
  const { cookie } = await signIn(owner, headers);
  assert.match(cookie, /^__Host-granary_portal=/);
});

test('a token with the request counts, not the cookie beside it', async () => {
  const browser = await signIn(owner);
  const { body } = await browser.ask('GET', '/me', undefined, { 'x-token': otherUser.token });
  assert.equal((body['data'] as { username: string }).username, otherUser.username);
  assert.deepEqual((await owner.client.sessions.getCurrent()).session, null);
});

test('users see and end their own sessions, an administrator those of all', async () => {
  const user = await newUser();
  const [one, two] = [await signIn(user), await signIn(user)];
  const stranger = await signIn(otherUser);
  const { body } = await one.ask('GET', '/sessions?all=true');
  const { sessions } = body as { sessions: { id: number; current: boolean; username: string }[] };
  assert.deepEqual(
    sessions.map(({ id, current }) => [id, current]),
    [
      [one.id, true],
      [two.id, false],
    ],
  );
  assert.equal((await stranger.ask('DELETE', `/sessions/${one.id}`)).status, 404);
  assert.equal((await one.ask('DELETE', `/sessions/${two.id}`)).status, 200);
  assert.deepEqual([await one.isSignedIn(), await two.isSignedIn()], [true, false]);
  const all = await admin.client.sessions.list({ all: true });
  assert.ok(all.sessions.some(({ username }) => username === user.username));
  assert.ok(!(await admin.client.sessions.list()).sessions.some(({ username }) => username === user.username));
  await admin.client.sessions.delete({ id: one.id });
  assert.equal(await one.isSignedIn(), false);
  assert.match((await titles())[0] ?? '', /^admin signed out a browser of user-\d+ that had signed in from 127/);
});

const endings: readonly (readonly [string, (id: number) => Promise<unknown>])[] = [
  ['disabled', (id) => admin.client.users.disable({ id })],
  ['removed', (id) => admin.client.users.delete({ id })],
  ['given another password', (id) => admin.client.users.update({ id, password: 'another password' })],
  ['told that all tokens are revoked', (id) => admin.client.users.revokeTokens({ id })],
];

for (const [what, end] of endings) {
  test(`the sessions of a user who is ${what} are over with the next request`, async () => {
    const user = await newUser();
    const [browser, bystander] = [await signIn(user), await signIn(owner)];
    await end(user.id);
    assert.deepEqual([await browser.isSignedIn(), await bystander.isSignedIn()], [false, true]);
    assert.ok(ended.includes(browser.id));
  });
}

test('a role that is taken away counts for the next request of a session', async () => {
  const user = await newUser();
  await admin.client.users.update({ id: user.id, role: 'admin' });
  const browser = await signIn(user);
  assert.equal((await browser.ask('GET', '/users')).status, 200);
  await admin.client.users.update({ id: user.id, role: 'user' });
  assert.equal((await browser.ask('GET', '/users')).status, 403);
});

test('the settings of the portal say how long sessions last', async () => {
  const browser = await signIn(owner);
  assert.deepEqual(await admin.client.settings.getSessions(), { status: 'success', idle_minutes: 30, hours_max: 12 });
  await admin.client.settings.setSessions({ idle_minutes: 10, hours_max: 1 });
  clock.advance(11 * 60_000);
  assert.equal(await browser.isSignedIn(), false);
  const next = await signIn(owner);
  for (let minutes = 0; minutes < 60; minutes += 9) {
    assert.ok(await next.isSignedIn());
    clock.advance(9 * 60_000);
  }
  assert.equal(await next.isSignedIn(), false);
  await admin.client.settings.setSessions({ idle_minutes: 30, hours_max: 12 });
});

test('refused sign-ins are slowed down like those for tokens, and few of them become events, without a name that nobody has', async () => {
  const user = await newUser();
  const attempt = (username: string, password: string) =>
    portal.inject({ method: 'POST', url: '/api/sessions', payload: { username, password } });
  const statuses: number[] = [];
  for (let guess = 0; guess < 11; guess += 1)
    statuses.push((await attempt(user.username, `guess ${guess}`)).statusCode);
  assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429]);
  assert.equal((await attempt(user.username, PASSWORD)).statusCode, 429);
  await attempt('my secret password', 'x');
  const refused = (await titles()).filter((title) => title.startsWith('A sign-in of'));
  assert.deepEqual(
    refused.filter((title) => title.includes(user.username)),
    [`A sign-in of ${user.username} from 127.0.0.1 was refused.`],
  );
  assert.ok(refused.includes('A sign-in of somebody from 127.0.0.1 was refused.'));
  assert.ok(!refused.some((title) => title.includes('my secret password')));
  clock.advance(60 * 60_000);
});

test('a page sees no secret until it asks for it, and asking is an event', async () => {
  const { id, name } = await portal.array(owner);
  const browser = await signIn(owner);
  const passcode = async (headers = {}) => {
    const { body } = await browser.ask('GET', `/arrays/${id}`, undefined, headers);
    return (body['data'] as { initial_passcode: string }).initial_passcode;
  };
  const { data } = await owner.client.arrays.get({ array_id: id });
  assert.notEqual(data.initial_passcode, '');
  assert.equal(await passcode(), '');
  assert.equal((await titles())[0], `owner signed in with a browser from 127.0.0.1.`);
  assert.equal(await passcode({ 'x-reveal-secrets': '1' }), data.initial_passcode);
  assert.equal((await titles())[0], `owner looked at the passcode of array ${name}.`);
});
