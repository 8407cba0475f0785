import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testConfiguration, testDrive } from '../../kernel/process/testing/configuration.ts';
import type { ControllerReport } from '../engine/report.ts';
import { viewOf, type SharedFacts } from './view.ts';

const NOW = Date.UTC(2026, 0, 31);

const report = {
  name: 'vsa-00000001-vc-0',
  index: 0,
  state: 'active',
  target: 'iqn.2025-11.io.granary:vsa-00000001',
  host: '127.0.0.1',
  heartbeatAt: NOW - 1_000,
} as ControllerReport;

const shared = {
  configuration: testConfiguration('/nowhere'),
  settings: {},
  cloudHeartbeatAt: NOW - 5_000,
  nowMs: NOW,
} as SharedFacts;

test('the controllers are on different storage nodes where the array has drives on two', () => {
  const nodesOf = (nodes: readonly string[]) => {
    const drives = nodes.map((node, index) => ({ ...testDrive(index), node }));
    const facts = { ...shared, configuration: { ...shared.configuration, drives } };
    return [0, 1].map((index) => viewOf({ ...report, index }, facts).sn_host);
  };
  assert.deepEqual(nodesOf(['node-1', 'node-1', 'node-4']), ['node-1', 'node-4']);
  assert.deepEqual(nodesOf(['node-1', 'node-1']), ['node-1', 'node-1']);
});

test('the size of the cache is the one in effect, in GB with a fraction', () => {
  const sizeOf = (cacheGb: number) =>
    viewOf(report, { ...shared, configuration: { ...shared.configuration, cacheGb } }).cache_size;
  assert.deepEqual([sizeOf(0.5), sizeOf(5.7505), sizeOf(220)], [0.5, 5.75, 220]);
});

test('a heartbeat is ok while signs of life come, and lost when they stop: of the controller, and of the cloud', () => {
  const signs = (controllerMs: number, cloudMs: number) => {
    const facts = { ...shared, cloudHeartbeatAt: NOW - cloudMs };
    const { heartbeat1, heartbeat2 } = viewOf({ ...report, heartbeatAt: NOW - controllerMs }, facts);
    return [heartbeat1, heartbeat2];
  };
  assert.deepEqual(signs(1_000, 5_000), ['ok', 'ok']);
  assert.deepEqual(signs(60_000, 5_000), ['lost', 'ok']);
  assert.deepEqual(signs(1_000, 60_000), ['ok', 'lost']);
});
