import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { followChanges } from '../../kernel/http/testing/follow.ts';
import { until } from '../../testing/waiting.ts';
import { startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

test('users learn that something changed; events are for administrators', async (t) => {
  const { admin, otherUser, owner, url } = portal;
  const own = await followChanges(t, url, { 'x-token': admin.token });
  const others = await followChanges(t, url, { 'x-token': otherUser.token });
  const { name } = await portal.array(owner, { name: portal.name('secret') });
  await until(() => own.titles().some((title) => title.includes(name)));
  await own.changed('arrays', 'arrayRequests', 'objectAccounts', 'events');
  await until(() => others.groups().includes('arrays'));
  assert.deepEqual(others.titles(), []);
});

test('what the watcher sees in a cloud is published', async (t) => {
  const array = await portal.array(portal.owner);
  const feed = await followChanges(t, portal.url, { 'x-token': portal.owner.token });
  await portal.services.watcher.poll();
  portal.cloud.setBinding(array.name, 'no such network');
  portal.cloud.setState(array.name, 'starting');
  await portal.services.watcher.poll();
  await feed.changed('arrays');
});

const PASSWORD = 'correct horse battery';

/** An administrator whose rights a test takes. */
async function deputy() {
  const username = portal.name('deputy');
  const { data } = await portal.admin.client.users.create({ username, password: PASSWORD, role: 'admin' });
  const byToken = { 'x-token': portal.person(username, PASSWORD).token };
  const payload = { username, password: PASSWORD };
  const { headers } = await portal.inject({ method: 'POST', url: '/api/sessions', payload });
  const bySession = { cookie: String(headers['set-cookie']).split(';')[0] ?? '' };
  return { id: data.id, byToken, bySession };
}

test('who is no administrator any more learns of no further event, by token or session', async (t) => {
  const { admin, owner, url } = portal;
  const { id, byToken, bySession } = await deputy();
  const before = await Promise.all([byToken, bySession].map((headers) => followChanges(t, url, headers)));
  await admin.client.users.update({ id, role: 'user' });
  await until(() => before.every((feed) => feed.hasEnded()), 'what was opened as an administrator ends');
  const after = await Promise.all([byToken, bySession].map((headers) => followChanges(t, url, headers)));
  const { name } = await portal.array(owner);
  for (const feed of after) await feed.changed('arrays');
  const titles = [...before, ...after].flatMap((feed) => feed.titles());
  assert.ok(!titles.some((title) => title.includes(name)), titles.join('\n'));
});

test('a token that is reset ends at once what was opened with it', async (t) => {
  const { admin, url } = portal;
  const username = portal.name('user');
  await admin.client.users.create({ username, password: PASSWORD });
  const headers = { 'x-token': portal.person(username, PASSWORD).token };
  const feed = await followChanges(t, url, headers);
  await admin.client.tokens.reset({ username, password: PASSWORD });
  await until(() => feed.hasEnded(), 'what the old token opened ends');
});

test('lists of sessions are read again when a change of a user has ended some', async (t) => {
  const { admin, url } = portal;
  const { data } = await admin.client.users.create({ username: portal.name('user'), password: PASSWORD });
  const feed = await followChanges(t, url, { 'x-token': admin.token });
  await admin.client.users.revokeTokens({ id: data.id });
  await feed.changed('me', 'sessions', 'users');
});
