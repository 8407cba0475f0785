import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { owner, PASSWORD, startPeople } from '../testing/people.ts';
import { checkPassword } from './passwords.ts';

const { users, settings } = objectsApi.groups;
const RULES = 50011;
const EXPIRED = 50010;
const HOUR_MS = 3600 * 1000;
const ada = { account: 'webhosting', user: 'ada', password: PASSWORD };

test('users sign in by name or mail address, to the account by name or id', async (t) => {
  const people = await startPeople(t);
  const { id, user } = await people.account('webhosting');
  for (const account of ['webhosting', 'WEBHOSTING', id])
    for (const name of ['ada', 'Ada', 'ada@example.org'])
      assert.equal((await people.signIn(account, name)).id, user.id);
  const twin = { username: 'mia', email: 'ada@example.org', account_id: id, role: 'member' as const };
  await people.admin().call(users.create, twin);
  const shared = { ...ada, user: 'ada@example.org' };
  assert.equal(
    (await people.anonymous().refused(users.authenticate, shared)).code,
    5,
    'an address of two names neither',
  );
  assert.equal((await people.anonymous().refused(users.authenticate, { ...ada, account: 'backup' })).code, 5);
});

test('a token lives as long as the setting says, and the next sign-in gives a fresh one', async (t) => {
  const people = await startPeople(t);
  await people.settings.change({ tokenMinutes: 60 }, 'Set.', 'dana');
  const { user } = await people.account('webhosting');
  const { token, token_expire_at } = user.objs_data.objs_user;
  assert.equal(token_expire_at, '2026-11-16 13:00:00 UTC');
  const { directory } = people.people;
  assert.ok('caller' in directory.byToken(token!));
  people.clock.advance(HOUR_MS - 1);
  assert.equal((await people.signIn('webhosting', 'ada')).objs_data.objs_user.token, token);
  people.clock.advance(1);
  assert.deepEqual(directory.byToken(token!), { refused: 'expired' });
  const next = (await people.signIn('webhosting', 'ada')).objs_data.objs_user;
  assert.notEqual(next.token, token);
  assert.equal(next.token_expire_at, '2026-11-16 14:00:00 UTC');
  assert.deepEqual(directory.byToken(token!), { refused: 'unknown' });
  assert.ok('caller' in directory.byToken(next.token!));
});

test('a token is replaced on demand, and the one before opens nothing', async (t) => {
  const people = await startPeople(t);
  const { user } = await people.account('webhosting');
  const before = user.objs_data.objs_user.token!;
  const epoch = people.epoch;
  const { token, token_expire_at } = await people.anonymous().call(users.resetToken, ada);
  assert.equal(token_expire_at, '2026-11-17 12:00:00 UTC');
  assert.ok(token !== before && people.epoch > epoch);
  assert.deepEqual(people.people.directory.byToken(before), { refused: 'unknown' });
  assert.equal((await people.anonymous().refused(users.resetToken, { ...ada, password: 'wrong' })).code, 5);
});

test('of users with one name the account tells which one is meant, wherever there is no key yet', async (t) => {
  const people = await startPeople(t);
  const home = await people.account('webhosting');
  const away = await people.account('backup');
  const anonymous = people.anonymous();
  const { directory } = people.people;
  const tokenOf = ({ user }: typeof home) => directory.byToken(user.objs_data.objs_user.token!);
  const atBackup = { ...ada, account: 'backup' };

  const { token } = await anonymous.call(users.resetToken, atBackup);
  assert.deepEqual(tokenOf(away), { refused: 'unknown' });
  assert.ok('caller' in directory.byToken(token) && 'caller' in tokenOf(home));

  await anonymous.call(users.changePassword, { ...atBackup, new_password: 'Pick-An0ther' });
  await people.signIn('backup', 'ada', 'Pick-An0ther');
  await people.signIn('webhosting', 'ada');
  assert.equal((await anonymous.refused(users.authenticate, atBackup)).code, 5);

  await anonymous.call(users.resetPassword, { account: 'backup', username: 'ada' });
  await until(() => people.outbox().length === 1);
  const code = /The code is: (\S+)/.exec(people.outbox()[0]!)![1]!;
  const use = { username: 'ada', code, new_password: 'Pick-A-Th1rd' };
  assert.equal((await anonymous.refused(users.usePasswordCode, { ...use, account: 'webhosting' })).code, 5);
  await anonymous.call(users.usePasswordCode, { ...use, account: 'backup' });
  await people.signIn('backup', 'ada', 'Pick-A-Th1rd');
  await people.signIn('webhosting', 'ada');
});

test('a temporary code sets a password once, within a day, and renews what may have been lost', async (t) => {
  const people = await startPeople(t);
  const { id, client } = await people.account('webhosting');
  const asked = { email: 'x@example.org', account_id: id, role: 'member' as const };
  const { code } = await client.call(users.create, { ...asked, username: 'mia' });
  const use = { username: 'mia', account: 'webhosting', code, new_password: PASSWORD };
  const before = (await client.call(users.list, {})).users.find(({ username }) => username === 'mia')!;
  assert.equal((await client.call(users.get, { id: String(before.id) })).user.init_password_changed, 'False');
  const weak = await people.anonymous().refused(users.usePasswordCode, { ...use, new_password: 'short' });
  assert.equal(weak.code, RULES, 'a bad password does not use the code up');
  assert.equal((await people.anonymous().refused(users.usePasswordCode, { ...use, username: 'ada' })).code, 5);
  assert.equal((await people.anonymous().refused(users.usePasswordCode, { ...use, code: 'wrong' })).code, 5);
  const response = await fetch(`${people.url}/api/users/mia/password_code`, {
    method: 'POST',
    body: new URLSearchParams({ account: 'webhosting', code, new_password: PASSWORD }),
  });
  assert.deepEqual(await response.json(), { status: 0, status_msg: 'The password was set.' });
  const mia = await people.signIn('webhosting', 'mia');
  assert.notEqual(mia.access_key, before.access_key);
  assert.notEqual(mia.objs_data.objs_user.token, before.objs_data.objs_user.token);
  assert.equal((await client.call(users.get, { id: String(before.id) })).user.init_password_changed, 'True');
  const again = await people.anonymous().refused(users.usePasswordCode, { ...use, new_password: 'An0ther-one' });
  assert.equal(again.code, 5);
  assert.match(again.message, /^This code sets no password of that user: it was used/);
  const late = await client.call(users.create, { ...asked, username: 'max' });
  people.clock.advance(24 * HOUR_MS);
  const tooLate = { ...use, username: 'max', code: late.code };
  assert.equal((await people.anonymous().refused(users.usePasswordCode, tooLate)).code, 5);
});

test('two who use a code at the same moment do not both set a password', async (t) => {
  const people = await startPeople(t);
  const { id, client } = await people.account('webhosting');
  const asked = { username: 'mia', email: 'x@example.org', account_id: id, role: 'member' as const };
  const { code } = await client.call(users.create, asked);
  const answers = await Promise.all(
    ['First-0f-two', 'Second-0f-two'].map(async (new_password) => {
      const body = JSON.stringify({ account: id, code, new_password });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${people.url}/api/users/mia/password_code`, { method: 'POST', headers, body });
      const reply = (await response.json()) as { status?: number; response?: { status: number } };
      return reply.status ?? reply.response?.status;
    }),
  );
  assert.deepEqual(answers.toSorted(), [0, 5]);
});

test('a password is changed with the present one, and the token goes with it', async (t) => {
  const people = await startPeople(t);
  const { user } = await people.account('webhosting');
  const change = { ...ada, new_password: 'Pick-An0ther' };
  assert.equal((await people.anonymous().refused(users.changePassword, { ...change, password: 'wrong' })).code, 5);
  const same = await people.anonymous().refused(users.changePassword, { ...ada, new_password: PASSWORD });
  assert.deepEqual([same.code, same.message], [RULES, 'The new password must not be the present one.']);
  const reply = await people.anonymous().call(users.changePassword, change);
  assert.deepEqual([reply.user.id, reply.csrf, reply.message], [user.id, '', 'The password was changed.']);
  assert.equal(reply.user.access_key, user.access_key);
  assert.notEqual(reply.user.objs_data.objs_user.token, user.objs_data.objs_user.token);
  assert.equal((await people.anonymous().refused(users.authenticate, ada)).code, 5);
  await people.signIn('webhosting', 'ada', 'Pick-An0ther');
  const { user: dana } = await people.admin().call(users.get, { id: '1' });
  assert.equal(dana.init_password_changed, 'False', 'the initial passcode does not count as changed');
  await people.anonymous().call(users.changePassword, { ...owner, new_password: 'Pick-An0ther' });
  const { user: after } = await people.admin().call(users.get, { id: '1' });
  assert.equal(after.init_password_changed, 'True');
});

test('passwords that are easily guessed are refused with the rule they break', () => {
  const refused = (password: string) => {
    try {
      checkPassword(password, 'Dana.Smith1');
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  assert.match(refused('Sh0rt-1')!, /at least 8 characters/);
  assert.match(refused('dana.smith1')!, /not be the username/);
  for (const password of ['lowercase', 'lower-case', 'UPPER-CASE', '12345678', 'lowerUPPER'])
    assert.match(refused(password)!, /three of these/, password);
  for (const password of [
    'Pick-Your-0wn',
    'lower-c4se',
    'größer Als 1',
    'correct horse battery staple',
    '😀'.repeat(16),
  ])
    assert.equal(refused(password), undefined, password);
});

test('an expired password is good for choosing a new one and for nothing else', async (t) => {
  const people = await startPeople(t);
  const { user, client } = await people.account('webhosting');
  const rules = { expire_password: true, expire_password_after: 7_200 };
  await people.admin().call(settings.setPasswordRules, rules);
  const { user: shown } = await client.call(users.get, { id: String(user.id) });
  assert.equal(shown.password_expires_at, '2026-11-16 14:00:00 UTC');
  people.clock.advance(2 * HOUR_MS);
  const refused = await people.anonymous().refused(users.authenticate, ada);
  assert.deepEqual([refused.code, refused.message.includes('change the password')], [EXPIRED, true]);
  assert.equal((await people.anonymous().refused(users.resetToken, ada)).code, EXPIRED);
  assert.deepEqual(await people.people.directory.signIn('webhosting', 'ada', PASSWORD, '127.0.0.1'), {
    refused: 'expired',
  });
  await people.anonymous().call(users.changePassword, { ...ada, new_password: 'Pick-An0ther' });
  const again = await people.signIn('webhosting', 'ada', 'Pick-An0ther');
  assert.equal(again.id, user.id);
});

test('past passwords do not come back as long as the setting says', async (t) => {
  const people = await startPeople(t);
  await people.account('webhosting');
  await people.admin().call(settings.setPasswordRules, { password_history: 2 });
  const change = (password: string, next: string) => ({ ...ada, password, new_password: next });
  const [first, second, third, fourth] = [PASSWORD, 'Second-0ne', 'Third-0ne!', 'Fourth-0ne'] as const;
  await people.anonymous().call(users.changePassword, change(first, second));
  await people.anonymous().call(users.changePassword, change(second, third));
  for (const past of [first, second, third]) {
    const { code, message } = await people.anonymous().refused(users.changePassword, change(third, past));
    assert.deepEqual([code, message.endsWith('nor one of the 2 before.')], [RULES, true], past);
  }
  await people.anonymous().call(users.changePassword, change(third, fourth));
  await people.anonymous().call(users.changePassword, change(fourth, first));
});

test('who forgot a password is mailed a code, and answers do not reveal who exists', async (t) => {
  const people = await startPeople(t);
  await people.account('webhosting');
  const ask = async (account: string, username: string) => {
    const body = new URLSearchParams({ account, username });
    const response = await fetch(`${people.url}/api/users/reset_password`, { method: 'POST', body });
    return [response.status, await response.text()];
  };
  const known = await ask('webhosting', 'ada');
  assert.deepEqual(await ask('webhosting', 'nobody'), known);
  assert.deepEqual(await ask('nowhere', 'ada'), known);
  assert.deepEqual(await ask('objs_admin', 'dana'), known, 'there is no address to write to');
  assert.match(known[1] as string, /^\{"status":0,"status_msg":"/);
  await until(() => people.outbox().length === 1);
  const [mail] = people.outbox();
  assert.match(mail!, /^To: ada@example\.org$/m);
  assert.match(mail!, /^Subject: \[Accounts\] A new password was asked for$/m);
  const code = /The code is: (\S+)/.exec(mail!)![1]!;
  await people.signIn('webhosting', 'ada');
  const use = { username: 'ada', account: 'webhosting', code, new_password: 'Pick-An0ther' };
  await people.anonymous().call(users.usePasswordCode, use);
  await people.signIn('webhosting', 'ada', 'Pick-An0ther');
  assert.ok(!people.titles().join().includes(code));
});

test('the number of mailed codes is limited', async (t) => {
  const people = await startPeople(t);
  const place = { account: 'webhosting', username: 'ada' };
  for (let asked = 0; asked < 5; asked += 1) await people.anonymous().call(users.resetPassword, place);
  const { http, code, headers } = await people.anonymous().refused(users.resetPassword, place);
  assert.deepEqual([http, code, headers.get('retry-after')], [429, 15, '3600']);
  people.clock.advance(HOUR_MS);
  await people.anonymous().call(users.resetPassword, place);
});

test('a stranger who asks for codes takes neither a code nor the right to ask from a user', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const mia = { username: 'mia', email: 'mia@example.org', account_id: id, role: 'member' as const };
  const { code: invitation } = await people.admin().call(users.create, mia);
  const { signIns } = people.people;
  const place = { account: 'webhosting', username: 'mia' };
  await signIns.resetPassword({ ...place, ip: '198.51.100.7' });
  await until(() => people.outbox().length === 1);
  const first = /The code is: (\S+)/.exec(people.outbox()[0]!)![1]!;
  for (let host = 1; host <= 5; host += 1) await signIns.resetPassword({ ...place, ip: `2001:db8::${host}` });
  await assert.rejects(signIns.resetPassword({ ...place, ip: '2001:db8::6' }), { entry: 'too_many_requests' });
  for (let host = 0; host < 100; host += 1) await signIns.resetPassword({ ...place, ip: `203.0.113.${host}` });
  await until(() => people.outbox().length === 19);
  const use = { ...place, new_password: 'Pick-An0ther' };
  assert.equal((await people.anonymous().refused(users.usePasswordCode, { ...use, code: 'wrong' })).code, 5);
  await people.anonymous().call(users.usePasswordCode, { ...use, code: first });
  await people.signIn('webhosting', 'mia', 'Pick-An0ther');
  const again = { ...use, code: invitation, new_password: 'Pick-A-Th1rd' };
  assert.equal(
    (await people.anonymous().refused(users.usePasswordCode, again)).code,
    5,
    'all codes went with the password',
  );
  await signIns.resetPassword({ ...place, ip: '192.0.2.1' });
  await until(() => people.outbox().length === 20);
});

test('an invitation works after a stranger asked for a code', async (t) => {
  const people = await startPeople(t);
  const { id } = await people.account('webhosting');
  const mia = { username: 'mia', email: 'mia@example.org', account_id: id, role: 'member' as const };
  const { code } = await people.admin().call(users.create, mia);
  const place = { account: 'webhosting', username: 'mia' };
  await people.anonymous().call(users.resetPassword, place);
  await people.anonymous().call(users.usePasswordCode, { ...place, code, new_password: PASSWORD });
});

test('locked is true while sign-in is refused: disabled, account disabled, too many wrong passwords by any of the names', async (t) => {
  const people = await startPeople(t);
  const { id, user } = await people.account('webhosting');
  const isLocked = async () => {
    const { users: all } = await people.admin().call(users.list, {});
    return all.find((one) => one.id === user.id)?.locked;
  };
  assert.equal(await isLocked(), false);
  // The same user under each name counts as one.
  const names = [
    { account: 'webhosting', user: 'ada' },
    { account: id, user: 'ada@example.org' },
  ];
  for (let guess = 0; guess < 10; guess += 1) {
    const refused = await people
      .anonymous()
      .refused(users.authenticate, { ...names[guess % 2]!, password: `g-${guess}` });
    assert.equal(refused.code, 5);
  }
  assert.notEqual((await people.anonymous().refused(users.authenticate, ada)).code, 5, 'the right one is refused, too');
  assert.equal(await isLocked(), true);
  people.clock.advance(HOUR_MS);
  assert.equal(await isLocked(), false);
  await people.signIn('webhosting', 'ada');
  await people.admin().call(objectsApi.groups.accounts.disable, { account_id: id });
  assert.equal(await isLocked(), true);
});
