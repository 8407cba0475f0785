import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from './metrics.ts';

test('requests are counted by operation and status, and timed', async () => {
  const metrics = new Metrics('portal');
  const count = metrics.counterOf('arrays.list');
  count(200, 0.004);
  count(200, 0.3);
  count(404, 0.001);
  const text = await metrics.registry.metrics();
  const valueOf = (...labels: string[]) =>
    text
      .split('\n')
      .find((line) => labels.every((label) => line.includes(label)))
      ?.split(' ')[1];
  assert.equal(valueOf('requests_total', 'operation="arrays.list"', 'status="200"', 'service="portal"'), '2');
  assert.equal(valueOf('requests_total', 'operation="arrays.list"', 'status="404"'), '1');
  assert.equal(valueOf('request_seconds_bucket', 'le="0.005"', 'operation="arrays.list"'), '2');
  assert.equal(valueOf('request_seconds_count', 'operation="arrays.list"'), '3');
  assert.match(text, /process_resident_memory_bytes/);
});
