import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { followChanges } from '../../kernel/http/testing/follow.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

test('who follows object storage learns what users change; members learn of no event', async (t) => {
  const objects = await testObjects(t);
  const member = await objects.user(await objects.account('south'), 'mary');
  const own = await followChanges(t, objects.url, { 'x-access-key': objects.owner.key });
  const others = await followChanges(t, objects.url, { 'x-access-key': member.key });
  await objects.account('north');
  await until(() => own.titles().some((title) => title.includes('north')));
  await own.changed('accounts', 'users', 'messages');
  await others.changed('accounts');
  assert.deepEqual(others.titles(), []);
});

test('what happens to drives and policies is published without a request', async (t) => {
  const objects = await testObjects(t);
  const feed = await followChanges(t, objects.url, { 'x-access-key': objects.owner.key });
  rmSync(objects.folderOf(1), { recursive: true });
  await feed.changed('drives', 'policies');
});

test('who is no administrator any more learns of no further event', async (t) => {
  const objects = await testObjects(t);
  const deputy = await objects.user(objects.owner.accountId, 'deputy', 'objs_admin');
  const begun = await fetch(`${objects.url}/api/sessions`, {
    method: 'POST',
    body: new URLSearchParams({ username: deputy.username, password: deputy.password }),
  });
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const feed = await followChanges(t, objects.url, { cookie });
  await objects.client.call(objectsApi.groups.users.changeRole, { user_id: String(deputy.number), role: 'member' });
  await until(() => feed.hasEnded(), 'what was opened as an administrator ends');
});
