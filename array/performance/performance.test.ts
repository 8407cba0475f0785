import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { Initiator } from '../../protocols/iscsi/testing/index.ts';
import { controllerPoint, sumsOfController } from './points.ts';
import { testArray } from '../testing/test-array.ts';

const { servers, volumes, controllers, pools, raidGroups, drives } = arrayApi.groups;
const IQN = 'iqn.2026-01.org.example:web-1';
const SECONDS = 3;
const BLOCKS = 16;
const MB = 2 ** 20;

interface Point {
  readonly rd_iops: number;
  readonly rd_bandwidth: number;
  readonly rd_iotime: number;
  readonly wrt_iops: number;
  readonly wrt_bandwidth: number;
  readonly wrt_iotime: number;
  readonly wrt_queue_len: number;
  readonly point: number;
}

function within(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= 0.1 * expected, `${what}: ${actual}, but the client did ${expected}`);
}

function sum(points: readonly Point[], field: keyof Point): number {
  return points.reduce((total, point) => total + point[field], 0);
}

function checkForm(points: readonly Point[], interval: number): void {
  assert.ok(points.length < 60, 'none from before it was made, a moment ago');
  for (const [index, { point }] of points.entries()) {
    assert.equal(point % interval, 0);
    if (index > 0) assert.equal(point - points[index - 1]!.point, interval);
  }
}

test('points of volumes, servers, pools, groups and drives agree with what a client did, also after a restart', async (t) => {
  const array = await testArray(t);
  const { client, configuration } = array;
  const group = await array.group();
  const pool = await array.pool({ groups: [group] });
  const volume = await array.volume(pool, { compress: false, dedupe: false });
  const { server_name: server } = await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  await client.call(servers.attachVolumes, { id: [server], volume_name: [volume] });
  const { vcontrollers } = await client.call(controllers.list, {});
  const { target: targetName, name: controller } = vcontrollers.find(({ state }) => state === 'active')!;
  const { host } = configuration.management;
  const session = await Initiator.login({ host, port: configuration.dataPort, initiatorName: IQN, targetName });
  const lun = session.lun(0);
  await lun.clearUnitAttentions();
  const block = Buffer.alloc(BLOCKS * 512, 5);
  const done = { reads: 0, writes: 0, writeMs: 0 };
  const end = Date.now() + SECONDS * 1000;
  while (Date.now() < end) {
    const begun = performance.now();
    await lun.write((done.writes % 1000) * BLOCKS, block);
    done.writeMs += performance.now() - begun;
    done.writes += 1;
    if (done.writes % 2 === 0) {
      await lun.read((done.reads % 1000) * BLOCKS, BLOCKS);
      done.reads += 1;
    }
  }
  await session.close();
  const isToldOf = (usages: readonly Point[], interval: number) =>
    sum(usages, 'wrt_iops') * interval >= 0.9 * done.writes;
  await until(
    async () => isToldOf((await client.call(volumes.performance, { id: volume, interval: 1 })).usages, 1),
    'the points are there',
  );
  // And the last of them is whole.
  await pause(2500);

  const check = (usages: readonly Point[], what: string) => {
    checkForm(usages, 1);
    within(sum(usages, 'wrt_iops'), done.writes, `${what} writes`);
    within(sum(usages, 'rd_iops'), done.reads, `${what} reads`);
    within(sum(usages, 'wrt_bandwidth') * MB, done.writes * block.length, `${what} bytes written`);
    within(sum(usages, 'rd_bandwidth') * MB, done.reads * block.length, `${what} bytes read`);
  };
  const { usages: ofVolume, count } = await client.call(volumes.performance, { id: volume, interval: 1 });
  assert.equal(count, ofVolume.length);
  check(ofVolume, 'volume');
  check((await client.call(servers.performance, { id: server, interval: 1 })).usages, 'server');
  const busy = ofVolume.filter(({ wrt_iops }) => wrt_iops > 0);
  for (const { wrt_iops, wrt_iotime, wrt_queue_len } of busy) {
    assert.ok(wrt_iotime > 0);
    assert.ok(Math.abs(wrt_queue_len - (wrt_iops * wrt_iotime) / 1000) < 0.01);
  }
  const writeMs = busy.reduce((total, { wrt_iops, wrt_iotime }) => total + wrt_iops * wrt_iotime, 0);
  assert.ok(writeMs < done.writeMs * 1.1, `${writeMs} ms, but the client waited ${done.writeMs}`);
  const { usages: ofPool } = await client.call(pools.performance, { id: pool, interval: 1 });
  const { usages: ofGroup } = await client.call(raidGroups.performance, { id: group, interval: 1 });
  const { disks } = await client.call(raidGroups.listDrives, { id: group });
  const { usages: ofDrive } = await client.call(drives.performance, { id: disks[0]!.name, interval: 1 });
  for (const usages of [ofPool, ofGroup, ofDrive]) {
    checkForm(usages, 1);
    assert.ok(sum(usages, 'wrt_bandwidth') * MB >= done.writes * block.length * 0.9, 'all writes got there');
  }

  const { usages: ofController } = await client.call(controllers.performance, { id: controller, interval: 1 });
  const moved = ofController.reduce((total, { gb_wrt }) => total + gb_wrt, 0) * 2 ** 30;
  within(moved, done.writes * block.length, 'controller');
  const measured = ofController.filter(({ mem_alloc }) => mem_alloc > 0);
  assert.ok(measured.length >= SECONDS);
  for (const { cpu_user, cpu_system, cpu_iowait, cpu_idle } of measured)
    assert.ok(cpu_user + cpu_system + cpu_iowait <= 110 && cpu_idle >= 0 && cpu_idle <= 100);
  assert.ok(measured.some(({ cpu_user }) => cpu_user > 0));
  const cache = await client.call(controllers.cachePerformance, { id: controller, interval: 1 });
  assert.deepEqual([cache.zcache_name, cache.count], [controller, cache.zcache_usages.length]);
  const stats = await client.call(controllers.cacheStats, { id: controller, interval: 1 });
  assert.ok(stats.usages.length > 0 && stats.count === stats.usages.length);

  await array.restart();
  // Points are of whole stretches of time: the last one the client was there in has to end first.
  let after: readonly Point[] = [];
  await until(async () => {
    after = (await client.call(volumes.performance, { id: volume, interval: 10 })).usages;
    return isToldOf(after, 10);
  }, 'the last stretch is over');
  checkForm(after, 10);
  within(sum(after, 'wrt_iops') * 10, done.writes, 'volume after the restart');
});

test('an unsupported interval, or an unknown resource, is refused', async (t) => {
  const { client } = await testArray(t, { drives: 2 });
  await client.call(servers.create, { display_name: 'web-1', iqn: IQN });
  const id = 'srv-00000001';
  for (const interval of [0, -1, 604_801])
    assert.match((await client.refused(servers.performance, { id, interval })).message, /^interval must be at/);
  for (const interval of [1, 7, 604_800])
    checkForm((await client.call(servers.performance, { id, interval })).usages, interval);
  assert.equal((await client.refused(servers.performance, { id: 'srv-9', interval: 1 })).code, 10086);
  assert.equal((await client.refused(controllers.performance, { id: 'vc-9', interval: 1 })).code, 10087);
  assert.equal((await client.refused(controllers.cacheStats, { id: 'vc-9', interval: 1 })).code, 10087);
  const missing = await client.refused(controllers.performance, { id: 'vc-9' } as never);
  assert.deepEqual([missing.code, missing.message], [7, 'interval is required.']);
});

test('how idle the machine is does not depend on what the array itself does', () => {
  const measured = { userMicroseconds: 0, systemMicroseconds: 0, waitingShare: 0.1, idleShare: 0.25, memoryBytes: 0 };
  const sums = Float64Array.from(sumsOfController(measured, 10));
  const { cpu_user, cpu_iowait, cpu_idle } = controllerPoint(
    { sums, io: new Float64Array(), metadata: new Float64Array() },
    0,
  );
  assert.deepEqual([cpu_user, cpu_iowait, cpu_idle], [0, 10, 25]);
});
