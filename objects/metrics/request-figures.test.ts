import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '@granary/kernel';
import { readSeries, valueOf } from '../../testing/metrics.ts';
import { dataRequest } from '../testing/requests.ts';
import { RequestFigures } from './request-figures.ts';

async function seriesOf(figures: RequestFigures) {
  const metrics = new Metrics('objects');
  for (const measure of figures.measures()) metrics.add(measure);
  return readSeries(await metrics.registry.metrics());
}

test('requests are counted by operation and status, with their bytes and how long they took', async () => {
  const figures = new RequestFigures();
  figures.add([
    dataRequest({ bytesIn: 1000, milliseconds: 3 }),
    dataRequest({ bytesIn: 24, milliseconds: 700 }),
    dataRequest({ action: 'GetObject', class: 'get', status: 404, bytesOut: 7, milliseconds: 60_000 }),
  ]);
  const series = await seriesOf(figures);
  const value = (name: string, labels = {}) => valueOf(series, `granary_object_${name}`, labels);
  assert.equal(value('requests_total', { protocol: 's3', operation: 'PutObject', status: '200' }), 2);
  assert.equal(value('requests_total', { operation: 'GetObject', status: '404' }), 1);
  assert.deepEqual([value('bytes_total', { direction: 'in' }), value('bytes_total', { direction: 'out' })], [1024, 7]);
  const bucket = (kind: string, le: string) => value('request_duration_seconds_bucket', { class: kind, le });
  assert.deepEqual([bucket('put', '0.0025'), bucket('put', '0.005'), bucket('put', '1')], [0, 1, 2]);
  assert.deepEqual([bucket('get', '30'), bucket('get', '+Inf')], [0, 1]);
  assert.equal(value('request_duration_seconds_sum', { class: 'put' }), 0.703);
});

test('operations beyond a thousand series are counted together', async () => {
  const figures = new RequestFigures();
  figures.add(Array.from({ length: 1200 }, (_, index) => dataRequest({ action: `Made up ${index}` })));
  const requests = (await seriesOf(figures)).filter(({ name }) => name === 'granary_object_requests_total');
  assert.equal(requests.length, 1001);
  assert.equal(valueOf(requests, 'granary_object_requests_total', { operation: 'other' }), 200);
});
