import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { portalClient, type PortalClient } from '@granary/client';
import { ManualClock } from '@granary/kernel';
import { refused, startTestPortal } from '../testing/portal.ts';
import { codeOfStep, stepAt } from '../totp/code.ts';

/** What users do for themselves; with the clock of the portal in the test's hands, as codes depend on it. */
const clock = new ManualClock(Date.now());
const portal = await startTestPortal({ clock });
after(() => portal.stop());
const { admin } = portal;

const PASSWORD = 'correct horse battery';
const STEP_MS = 30_000;

interface Somebody {
  readonly id: number;
  readonly username: string;
  readonly client: PortalClient;
}

async function newUser(role?: 'admin'): Promise<Somebody> {
  const username = portal.name('user');
  const { data } = await admin.client.users.create({ username, password: PASSWORD, role });
  const { token } = (await admin.client.tokens.get({ username, password: PASSWORD })).data;
  return { id: data.id, username, client: portalClient({ url: portal.url, token }) };
}

/** A user who signs in with two factors. */
async function careful(role?: 'admin') {
  const user = await newUser(role);
  const { secret, otpauth_uri: uri } = (await user.client.me.startTotp({ current_password: PASSWORD })).data;
  assert.ok(uri.includes(secret));
  const code = () => {
    clock.advance(STEP_MS);
    return codeOfStep(secret, stepAt(clock.now()));
  };
  const { recovery_codes: recoveryCodes } = (await user.client.me.confirmTotp({ code: code() })).data;
  return { ...user, code, recoveryCodes };
}

const open = (username: string, code?: string) =>
  portal.inject({ method: 'POST', url: '/api/sessions', payload: { username, password: PASSWORD, code } });
const basic = (username: string) => {
  const authorization = `Basic ${Buffer.from(`${username}:${PASSWORD}`).toString('base64')}`;
  return portal.inject({ url: '/api/arrays', headers: { authorization } });
};

test('users change their mail address, and nothing else of what an administrator decides', async () => {
  const { client, username } = await newUser();
  const { data } = await client.me.update({ email: 'ann@example.net' });
  assert.deepEqual([data.username, data.email, data.role, data.totp], [username, 'ann@example.net', 'user', false]);
  assert.equal((await client.me.get()).data.recovery_codes_left, null);
});

test('a new password needs the one so far, ends all other sessions and revokes the token', async () => {
  const { client, username } = await newUser();
  const next = 'another horse battery';
  await refused(client.me.update({ password: next }), 400, /current_password is required/);
  await refused(client.me.update({ password: next, current_password: 'wrong' }), 401, /Invalid credentials/);
  const [here, there] = [await open(username), await open(username)];
  const cookieOf = (answer: typeof here) => String(answer.headers['set-cookie']).split(';')[0] as string;
  const changed = await portal.inject({
    method: 'PUT',
    url: '/api/me',
    headers: {
      cookie: cookieOf(here),
      'x-csrf-token': here.json<{ session: { csrf_token: string } }>().session.csrf_token,
    },
    payload: { password: next, current_password: PASSWORD },
  });
  assert.equal(changed.statusCode, 200, changed.body);
  const me = async (answer: typeof here) =>
    (await portal.inject({ url: '/api/me', headers: { cookie: cookieOf(answer) } })).statusCode;
  assert.deepEqual([await me(here), await me(there)], [200, 401]);
  await refused(client.me.get(), 401, /Invalid credentials/);
  await admin.client.tokens.get({ username, password: next });
});

test('with two factors name and password alone open nothing, and with a code they do', async () => {
  const { username, code, client } = await careful();
  const credentials = { username, password: PASSWORD };
  for (const answer of [await open(username), await basic(username)]) {
    assert.equal(answer.statusCode, 401);
    assert.match(answer.body, /signs in with two factors/);
  }
  await refused(admin.client.tokens.get(credentials), 401, /signs in with two factors/);
  await refused(admin.client.tokens.reset(credentials), 401, /signs in with two factors/);
  assert.equal((await open(username, code())).statusCode, 200);
  await admin.client.tokens.get({ ...credentials, code: code() });
  assert.equal((await client.me.get()).data.totp, true, 'the token stays valid');
  await admin.client.tokens.reset({ ...credentials, code: code() });
  await refused(client.me.get(), 401, /Invalid credentials/);
});

test('who does not know the password learns nothing of two factors', async () => {
  const { username } = await careful();
  await refused(admin.client.tokens.get({ username, password: 'wrong' }), 401, /^Invalid credentials\.$/);
});

test('a code is good once, also when it is sent twice at the same moment', async () => {
  const { username, code } = await careful();
  const used = code();
  const statuses = (await Promise.all([open(username, used), open(username, used)])).map((answer) => answer.statusCode);
  assert.deepEqual(statuses.sort(), [200, 401]);
  assert.match((await open(username, used)).body, /wrong or was used before/);
});

test('after ten wrong codes of a user no code is looked at for a while', async () => {
  const { username, code } = await careful();
  for (let guess = 0; guess < 10; guess += 1) await open(username, '000000');
  assert.equal((await open(username, code())).statusCode, 200, 'the block of fifteen seconds is over after a step');
  for (let guess = 0; guess < 10; guess += 1) await open(username, '000000');
  assert.equal((await open(username, '000000')).statusCode, 429);
});

test('a recovery code signs in once, and is kept as a mark only', async () => {
  const { username, recoveryCodes, client } = await careful();
  assert.equal(recoveryCodes.length, 10);
  const [first = ''] = recoveryCodes;
  assert.equal((await open(username, first.toLowerCase())).statusCode, 200);
  assert.equal((await open(username, first)).statusCode, 401);
  assert.equal((await client.me.get()).data.recovery_codes_left, 9);
  const rows = JSON.stringify(portal.store.read((db) => db.all('SELECT * FROM totp_factors')));
  for (const one of recoveryCodes) assert.ok(!rows.includes(one) && !rows.includes(one.replaceAll('-', '')));
});

test('two factors count once a code was confirmed, which ends the other sessions', async () => {
  const { client, username } = await newUser();
  const before = await open(username);
  const { secret } = (await client.me.startTotp({ current_password: PASSWORD })).data;
  assert.equal((await open(username)).statusCode, 200);
  await refused(client.me.confirmTotp({ code: '000000' }), 401, /wrong or was used/);
  await client.me.confirmTotp({ code: codeOfStep(secret, stepAt(clock.now())) });
  const cookie = String(before.headers['set-cookie']).split(';')[0] as string;
  assert.equal((await portal.inject({ url: '/api/me', headers: { cookie } })).statusCode, 401);
  await refused(client.me.startTotp({ current_password: PASSWORD }), 409, /is on already/);
  await refused(client.me.confirmTotp({ code: '000000' }), 409, /is on already/);
});

test('a session or a token without the password sets no second factor up', async () => {
  const { client, username } = await newUser();
  await refused(client.me.startTotp({ current_password: 'wrong' }), 401, /Invalid credentials/);
  await refused(client.me.confirmTotp({ code: '000000' }), 409, /start with POST/);
  const { totp } = (await client.me.get()).data;
  assert.deepEqual([totp, (await open(username)).statusCode], [false, 200]);
});

test('the user switches two factors off with a code, or an administrator does', async () => {
  const { username, code, client } = await careful();
  await refused(client.me.removeTotp({ code: '000000' }), 401, /wrong/);
  await client.me.removeTotp({ code: code() });
  assert.equal((await open(username)).statusCode, 200);
  await refused(client.me.removeTotp({ code: '000000' }), 409, /is off/);
  const lost = await careful();
  assert.equal((await admin.client.users.get({ id: lost.id })).data.totp, true);
  await refused(lost.client.users.removeTotp({ id: lost.id }), 403, /needs the role admin/);
  await admin.client.users.removeTotp({ id: lost.id });
  assert.equal((await admin.client.users.get({ id: lost.id })).data.totp, false);
  assert.equal((await open(lost.username)).statusCode, 200);
  await refused(client.me.confirmTotp({ code: '000000' }), 409, /start with POST/);
});

test('administrators, too, switch their own off with a code only', async () => {
  const chief = await careful('admin');
  await refused(chief.client.users.removeTotp({ id: chief.id }), 409, /own off with a code/);
  assert.equal((await chief.client.me.get()).data.totp, true);
  await chief.client.me.removeTotp({ code: chief.code() });
});
