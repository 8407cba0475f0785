import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { awakeMs } from '../../testing/timing.ts';
import { testDisk } from '../testing/test-disk.ts';
import { mirrorPair } from './testing/mirror-pair.ts';

const { mirrorJobs, consistencyGroups, remoteArrays, servers, volumes, pools, snapshots, snapshotPolicies } =
  arrayApi.groups;
const MB = 2 ** 20;
const VITAL_DEVICE_IDS = 0x83;

test('a mirror ships everything once, then only what changed; broken, its destination is the source byte for byte', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const volume = await source.volume(pair.pool, { name: 'reports' });
  const disk = await testDisk(t, source, volume);
  const first = randomBytes(8 * MB);
  await disk.write(0, first);
  const { job, remoteJob, copy } = await pair.mirror(volume);
  assert.match(job, /^srcjarray-[0-9a-f]{8}$/);
  assert.match(remoteJob, /^dstjarray-[0-9a-f]{8}$/);
  await pair.shipped(copy, 1);
  await pair.status(job, /^Idle$/);
  assert.ok(relay.bytes > 8 * MB && relay.bytes < 8.2 * MB, `${relay.bytes}`);
  const shown = await pair.show(job);
  assert.deepEqual(
    [shown.src, shown.dst, shown.job_display_name, shown.wan_optimization],
    [
      {
        provider: 'Granary',
        array_display_name: 'Accounts',
        cg_display_name: 'reports',
        cg_name: await pair.group(volume),
        pool_display_name: 'near',
      },
      {
        provider: 'Granary',
        array_display_name: 'Offsite',
        cg_display_name: 'copy 1',
        cg_name: null,
        pool_display_name: 'far',
      },
      'mirror to copy 1',
      'YES',
    ],
  );
  assert.ok(shown.avg_sync_rate_kb_sec > 0);
  const there = await pair.show(remoteJob, destination);
  assert.deepEqual([there.src, there.dst, there.rpo, there.status], [shown.src, shown.dst, shown.rpo, 'Idle']);

  const before = relay.bytes;
  const change = randomBytes(64 * 1024);
  await disk.write(50, change);
  await disk.lun.unmap([{ lba: (2 * MB) / 512, blocks: MB / 512 }]);
  await pair.snapshot(volume, 'second');
  await pair.shipped(copy, 2);
  assert.ok(relay.bytes - before > 64 * 1024 && relay.bytes - before < 90 * 1024, `${relay.bytes - before}`);
  const names = (await destination.client.call(snapshots.list, {})).snapshots.map(({ display_name }) => display_name);
  assert.deepEqual(names, ['by hand (first)', 'second']);
  const { volumes: copies } = await destination.client.call(pools.listDestinationVolumes, { id: pair.remotePool });
  assert.deepEqual(
    copies.map(({ name, has_mirror }) => [name, has_mirror]),
    [[copy, 'YES']],
  );

  const wwid = await disk.lun.inquiry(VITAL_DEVICE_IDS);
  await source.client.call(mirrorJobs.break, { id: job, inherited: true });
  await pair.status(remoteJob, /^Broken$/, destination);
  assert.equal((await pair.show(job)).status, 'Broken');
  const restored = await testDisk(t, destination, copy);
  const expected = Buffer.concat([first.subarray(0, 2 * MB), Buffer.alloc(MB), first.subarray(3 * MB)]);
  assert.ok((await restored.read(0, 8)).equals(expected));
  assert.ok((await restored.read(50, 1)).subarray(0, change.length).equals(change));
  const inherited = await restored.lun.inquiry(VITAL_DEVICE_IDS);
  assert.ok(inherited.includes(wwid.subarray(8, 24)), 'servers know the disk again');
  await source.client.call(volumes.get, { id: volume });
});

test('pausing, limits, sizes, keeping and refusals of a mirror', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const volume = await source.volume(pair.pool, { name: 'books', capacity: '64M' });
  const disk = await testDisk(t, source, volume);
  await disk.write(0, randomBytes(MB));
  const { job, remoteJob, copy } = await pair.mirror(volume);
  await pair.shipped(copy, 1);

  await t.test('what is asked of the wrong thing, or the wrong side, is refused', async () => {
    const codeOf = async (refused: Promise<{ code: number | string }>) => (await refused).code;
    const request = await pair.request(volume);
    const mirror = (changes: object) =>
      codeOf(source.client.refused(consistencyGroups.mirror, { ...request, ...changes }));
    assert.equal(await mirror({ volume_cg_id: 'cg-99999999' }), 10085);
    assert.equal(await mirror({ remote_pool: 'rpool-99999999' }), 10080);
    assert.equal(await mirror({ policy: 'policy-99999999' }), 10084);
    assert.equal(await mirror({ display_name: 'mirror to copy 1' }), 10096);
    assert.equal(await mirror({ new_cg_name: 'copy 1' }), 10096);
    assert.equal((await source.client.call(mirrorJobs.list, {})).count, 1, 'what failed leaves nothing behind');
    for (const operation of [mirrorJobs.pause, mirrorJobs.continue]) {
      assert.equal(await codeOf(destination.client.refused(operation, { id: remoteJob })), 10100);
      assert.equal(await codeOf(source.client.refused(operation, { id: 'srcjarray-99999999' })), 10088);
    }
    assert.equal(await codeOf(destination.client.refused(mirrorJobs.setRateLimit, { id: remoteJob, limit: 1 })), 10100);
    assert.equal(await codeOf(source.client.refused(mirrorJobs.continue, { id: job })), 10100);
    assert.equal(await codeOf(destination.client.refused(volumes.delete, { id: copy, force: true })), 10100);
    const { server_name } = await destination.client.call(servers.create, {
      display_name: 'reader',
      iqn: 'iqn.2026-01.org.example:reader',
    });
    const attach = { id: [server_name], volume_name: [copy] };
    assert.equal(await codeOf(destination.client.refused(servers.attachVolumes, attach)), 10100);
    assert.equal(await codeOf(source.client.refused(remoteArrays.delete, { id: 'rarray-00000001' })), 10100);
    const { snapshots: taken } = await source.client.call(snapshots.list, {});
    const base = { snapshot_id: taken[0]!.name };
    assert.equal(await codeOf(source.client.refused(snapshots.delete, base)), 10100);
    const { snapshots: received } = await destination.client.call(snapshots.list, {});
    assert.equal(await codeOf(destination.client.refused(snapshots.delete, { snapshot_id: received[0]!.name })), 10100);
    const { cg_name } = (await destination.client.call(volumes.get, { id: copy })).volume;
    const half = { volume_cg_id: cg_name, display_name: 'half a round' };
    assert.equal(await codeOf(destination.client.refused(snapshots.create, half)), 10100);
    const { snapshot_policies: policies } = await destination.client.call(snapshotPolicies.list, {});
    const rule = { id: copy, policy: policies[0]!.name, application: 'user' } as const;
    assert.equal(await codeOf(destination.client.refused(snapshotPolicies.attach, rule)), 10100);
  });

  await t.test('while it is paused nothing is shipped, and the destination knows', async () => {
    await source.client.call(mirrorJobs.pause, { id: job });
    assert.equal((await source.client.refused(mirrorJobs.pause, { id: job })).code, 10100);
    await disk.write(8, randomBytes(MB));
    const before = relay.bytes;
    await pair.snapshot(volume, 'while paused');
    await pair.status(remoteJob, /^Paused$/, destination);
    assert.equal((await pair.show(job)).status, 'Paused');
    assert.ok(relay.bytes < before + 0.1 * MB);
    await source.client.call(mirrorJobs.continue, { id: job });
    await pair.shipped(copy, 2);
    await pair.status(job, /^Idle$/);
  });

  await t.test('a limit holds', async () => {
    await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 2048 });
    await disk.write(16, randomBytes(6 * MB));
    const [before, startedAt] = [relay.bytes, performance.now()];
    const spentMs = await awakeMs(async () => {
      await pair.snapshot(volume, 'slow');
      await pair.until(async () => {
        const { snapshots: found } = await destination.client.call(snapshots.list, {});
        return found.some(({ display_name }) => display_name === 'slow');
      }, 'it is there');
    });
    const kbPerSecond = (ms: number) => (relay.bytes - before) / 1024 / (ms / 1000);
    const passedMs = performance.now() - startedAt;
    assert.ok(kbPerSecond(passedMs) < 2048 * 1.45, `${kbPerSecond(passedMs)}`);
    assert.ok(kbPerSecond(spentMs) > 2048 * 0.5, `${kbPerSecond(spentMs)}`);
    await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 0 });
  });

  await t.test('the destination keeps as many snapshots as its policy says', async () => {
    const { snapshots: found } = await destination.client.call(snapshots.list, {});
    assert.deepEqual(
      found.map(({ display_name }) => display_name),
      ['while paused', 'slow'],
    );
  });

  await t.test('a source that grew makes its destination grow', async () => {
    await source.client.call(volumes.expand, { id: volume, capacity: 32 });
    await pair.snapshot(volume, 'larger');
    await pair.until(async () => {
      const { volume: grown } = await destination.client.call(volumes.get, { id: copy });
      const { volume: original } = await source.client.call(volumes.get, { id: volume });
      return grown.virtual_capacity === original.virtual_capacity;
    }, 'it has grown');
  });

  await t.test('a volume may have several mirrors, each with its own pace', async () => {
    await pair.status(job, /^Idle$/);
    const other = await source.volume(pair.pool, { name: 'ledger', capacity: '8M' });
    const [first, second] = [await pair.mirror(other), await pair.mirror(other)];
    await pair.shipped(first.copy, 1);
    await pair.shipped(second.copy, 1);
    await source.client.call(mirrorJobs.break, { id: first.job });
    const refused = await source.client.refused(volumes.delete, { id: other, force: true });
    assert.deepEqual([refused.code, /break the mirror first/.test(refused.message)], [10100, true]);
    await source.client.call(mirrorJobs.break, { id: second.job });
    assert.equal((await source.client.call(volumes.get, { id: other })).volume.has_mirror, 'NO');
    await source.client.call(volumes.delete, { id: other, force: true });
  });
});
