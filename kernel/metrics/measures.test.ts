import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateSamples } from './measure.ts';
import { Metrics } from './metrics.ts';

test('buckets of a histogram are cumulative, with their count and, where it is known, their sum', async () => {
  const metrics = new Metrics('array');
  metrics.add({
    name: 'granary_test_seconds',
    help: 'How long it took',
    type: 'histogram',
    read: () => [
      { labels: { pool: 'a' }, ends: [0.1, 1], counts: [2, 3, 4], sum: 7.5 },
      { labels: { pool: 'b' }, ends: [0.1, 1], counts: [0, 0, 1] },
    ],
  });
  const text = await metrics.registry.metrics();
  const lines = text.split('\n').filter((line) => line.includes('granary_test_seconds'));
  assert.deepEqual(lines, [
    '# HELP granary_test_seconds How long it took',
    '# TYPE granary_test_seconds histogram',
    'granary_test_seconds_bucket{pool="a",le="0.1",service="array"} 2',
    'granary_test_seconds_bucket{pool="a",le="1",service="array"} 5',
    'granary_test_seconds_bucket{pool="a",le="+Inf",service="array"} 9',
    'granary_test_seconds_sum{pool="a",service="array"} 7.5',
    'granary_test_seconds_count{pool="a",service="array"} 9',
    'granary_test_seconds_bucket{pool="b",le="0.1",service="array"} 0',
    'granary_test_seconds_bucket{pool="b",le="1",service="array"} 0',
    'granary_test_seconds_bucket{pool="b",le="+Inf",service="array"} 1',
    'granary_test_seconds_count{pool="b",service="array"} 1',
  ]);
});

test('a figure that cannot be read is left out and reported; the others are served', async () => {
  const failed: string[] = [];
  const metrics = new Metrics('array', { onError: (_, name) => failed.push(name) });
  metrics.add({
    name: 'granary_broken',
    help: 'Cannot be read',
    type: 'gauge',
    read() {
      throw new Error('as asked');
    },
  });
  metrics.add({ name: 'granary_whole', help: 'Can', type: 'gauge', read: () => [{ labels: {}, value: 3 }] });
  const text = await metrics.registry.metrics();
  assert.match(text, /^granary_whole\{service="array"\} 3$/m);
  assert.deepEqual(failed, ['granary_broken']);
});

test('of the states a thing may be in, the present one is 1', () => {
  const samples = [...stateSamples({ drive: 'a' }, ['normal', 'failed'], 'failed')];
  assert.deepEqual(
    samples.map(({ labels, value }) => [labels['state'], value]),
    [
      ['normal', 0],
      ['failed', 1],
    ],
  );
});

test('process figures have names that follow the conventions', async () => {
  const { registry } = new Metrics('portal');
  const text = await registry.metrics();
  const gauges = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name ?? '');
  assert.deepEqual(
    gauges.filter((name) => name.endsWith('_total')),
    [],
  );
  assert.match(text, /process_open_fds/);
  assert.match(text, /nodejs_eventloop_lag_p99_seconds/);
});
