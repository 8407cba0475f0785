import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

/** Goal: requests to a bucket of a whole array are found in the bucket it logs into, also those from before a restart. */
const objects = await testObjects({ after });
const account = await objects.account('acme');
const ada = await objects.user(account, 'ada', 'account_admin');
const s3 = objects.s3(ada);
after(() => s3.close());

test('requests to a bucket are delivered as objects of its target, over a restart', { timeout: 600_000 }, async () => {
  for (const bucket of ['photos', 'logs']) expect(await s3.call('PUT', `/${bucket}`), 200);
  const body =
    '<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix>p/</TargetPrefix></LoggingEnabled></BucketLoggingStatus>';
  expect(await s3.call('PUT', '/photos', { query: { logging: '' }, body }), 200);
  expect(await s3.call('PUT', '/photos/beach.jpg', { body: 'waves' }), 200);
  await objects.restart();
  expect(await s3.call('GET', '/photos/beach.jpg'), 200);
  expect(await s3.call('GET', '/photos/none'), 404);
  const delivered = async () => {
    const { text } = await s3.call('GET', '/logs', { query: { prefix: 'p/' } });
    const keys = [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key!);
    return Promise.all(keys.map(async (key) => (await s3.call('GET', `/logs/${key}`)).text));
  };
  await until(async () => (await delivered()).join('').includes('NoSuchKey'), 'the log arrives', 200_000);
  const lines = (await delivered()).join('').trim().split('\n');
  const operations = lines.map((line) => line.split(' ')[7]);
  for (const operation of ['REST.PUT.OBJECT', 'REST.GET.OBJECT']) assert.ok(operations.includes(operation), operation);
  assert.ok(lines.every((line) => line.startsWith(`${account} photos [`)));
});
