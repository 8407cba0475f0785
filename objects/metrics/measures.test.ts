import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSeries, valueOf } from '../../testing/metrics.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

test('an object storage array shows its requests, its contents, its policies and its drives', async (t) => {
  const objects = await testObjects(t);
  const account = await objects.account('web');
  const client = objects.s3(await objects.user(account, 'ada'));
  t.after(() => client.close());
  await client.call('PUT', '/photos');
  await client.call('PUT', '/photos/beach.jpg', { body: Buffer.alloc(1000, 1) });
  const read = async () => {
    const series = readSeries(await (await fetch(`${objects.url}/metrics`)).text());
    return (name: string, labels = {}) => valueOf(series, `granary_${name}`, labels);
  };
  await until(async () => (await read())('object_requests_total', { operation: 'PutObject', status: '200' }) === 1);
  const value = await read();
  assert.equal(value('object_bytes_total', { direction: 'in' }), 1000);
  assert.deepEqual([value('object_objects'), value('object_buckets'), value('object_stored_bytes')], [1, 1, 1000]);
  assert.equal(value('object_accounts'), 2);
  assert.equal(value('object_policy_health', { state: 'normal' }), 1);
  assert.equal(value('object_policy_usable'), 1);
  assert.ok((value('object_policy_capacity_bytes') ?? 0) > (value('object_policy_used_bytes') ?? 0));
  assert.ok((value('object_policy_partitions', { health: 'normal' }) ?? 0) > 0);
  assert.equal(value('object_policy_partitions', { health: 'critical' }), 0);
  assert.equal(value('object_policy_repair_backlog_partitions'), 0);
  assert.equal(value('object_drive_state', { state: 'normal' }), 1);
  assert.equal(value('object_controller_state', { state: 'running' }), 1);
});
