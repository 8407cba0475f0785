import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expect } from '../../testing/client.ts';
import { PEOPLE, serve } from '../../testing/serve.ts';

const served = await serve();
const ada = served.as('ada');
after(() => served.close());

test('tags and an ACL that are put at the same time both stay', async () => {
  expect(await ada.call('PUT', '/same-time'), 200);
  const body = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
  for (let round = 0; round < 10; round++) {
    const path = `/same-time/${round}`;
    expect(await ada.call('PUT', path, { body: 'x', headers: { 'x-amz-meta-kept': 'yes' } }), 200);
    const replies = await Promise.all([
      ada.call('PUT', path, { query: { tagging: '' }, body }),
      ada.call('PUT', path, { query: { acl: '' }, headers: { 'x-amz-acl': 'public-read' } }),
    ]);
    for (const reply of replies) expect(reply, 200);
    const bucket = served.context.store.bucket(PEOPLE.ada.caller.account, 'same-time')!;
    const { tags, acl, metadata } = served.context.store.version(bucket.id, String(round))!.attributes;
    assert.deepEqual([tags, acl, metadata], [{ a: 'b' }, 'public-read', { kept: 'yes' }]);
  }
});

test('rules for notifications that are set at the same time have one secret', async () => {
  const settings = served.context.settings();
  Object.assign(served.context, { settings: () => ({ ...settings, notificationHosts: ['hooks.example.org'] }) });
  expect(await ada.call('PUT', '/one-secret'), 200);
  const body =
    '<NotificationConfiguration><TopicConfiguration><Topic>https://hooks.example.org/</Topic><Event>s3:ObjectCreated:*</Event></TopicConfiguration></NotificationConfiguration>';
  const query = { notification: '' };
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.call('PUT', '/one-secret', { query, body })));
  const secrets = replies.map((reply) => expect(reply, 200).headers['x-granary-notification-secret']);
  assert.equal(new Set(secrets).size, 1);
});
