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
  await own.changed('arrays', 'arrayRequests', 'events');
  await until(() => others.groups().includes('arrays'));
  assert.deepEqual(others.titles(), []);
});

test('what the watcher sees in a cloud is told', async (t) => {
  const array = await portal.array(portal.owner);
  const feed = await followChanges(t, portal.url, { 'x-token': portal.owner.token });
  await portal.services.watcher.poll();
  portal.cloud.setBinding(array.name, 'no such network');
  portal.cloud.setState(array.name, 'starting');
  await portal.services.watcher.poll();
  await feed.changed('arrays');
});
