import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testDisk } from '../testing/test-disk.ts';
import { mirrorPair } from './testing/mirror-pair.ts';

const { mirrorJobs, consistencyGroups, controllers, remoteArrays, settings, snapshots, volumes } = arrayApi.groups;
const MB = 2 ** 20;

test('whatever is cut off in the middle of a round goes on from where it stopped', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const volume = await source.volume(pair.pool);
  const disk = await testDisk(t, source, volume);
  const { job, copy } = await pair.mirror(volume);
  await pair.shipped(copy, 1);
  const frame = 4.1 * MB;
  let count = 1;
  /** Ships 24 MB of new data and tells how much went over the cable. */
  const roundWith = async (disturb: () => Promise<void>): Promise<number> => {
    await disk.write(4, randomBytes(24 * MB));
    const before = relay.bytes;
    await pair.snapshot(volume, `round ${++count}`);
    await disturb();
    const name = `round ${count}`;
    await pair.until(async () => {
      const { snapshots: found } = await destination.client.call(snapshots.list, {});
      return found.some(({ display_name }) => display_name === name);
    }, `${name} is there`);
    return relay.bytes - before;
  };

  await t.test('the link is cut', async () => {
    relay.cutAfter(10 * MB);
    const bytes = await roundWith(async () => {
      await pair.until(() => relay.isCut, 'the link is cut');
      await pair.status(job, /^Disconnected$/);
      relay.mend();
    });
    assert.ok(bytes > 24 * MB && bytes < 24 * MB + frame, `${bytes}`);
  });

  await t.test('the source is restarted', async () => {
    await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 16 * 1024 });
    const before = relay.bytes;
    const bytes = await roundWith(async () => {
      await pair.until(() => relay.bytes > before + 9 * MB, 'it is under way');
      await source.restart();
      await disk.login(t);
    });
    assert.ok(bytes > 24 * MB && bytes < 24 * MB + frame, `${bytes}`);
  });

  await t.test('the destination is restarted', async () => {
    const before = relay.bytes;
    const bytes = await roundWith(async () => {
      await pair.until(() => relay.bytes > before + 9 * MB, 'it is under way');
      await destination.restart();
      await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 0 });
    });
    assert.ok(bytes > 24 * MB && bytes < 24 * MB + frame, `${bytes}`);
  });

  await t.test('and nothing got lost on the way', async () => {
    await pair.status(job, /^Idle$/);
    const expected = await disk.read(0, 32);
    await source.client.call(mirrorJobs.break, { id: job });
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 32)).equals(expected));
  });
});

test('a mirror that is broken in the middle of a round leaves the last snapshot that came whole', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const volume = await source.volume(pair.pool);
  const disk = await testDisk(t, source, volume);
  const whole = randomBytes(4 * MB);
  await disk.write(0, whole);

  await t.test('from its destination, which its source hears of later', async () => {
    const { job, remoteJob, copy } = await pair.mirror(volume);
    await pair.shipped(copy, 1);
    await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 4096 });
    await disk.write(0, randomBytes(16 * MB));
    const before = relay.bytes;
    await pair.snapshot(volume, 'half');
    await pair.until(() => relay.bytes > before + 6 * MB, 'it is under way');
    await pair.status(remoteJob, /^Syncing \d+%$/, destination);
    relay.cut();
    await destination.client.call(mirrorJobs.break, { id: remoteJob });
    assert.equal((await pair.show(remoteJob, destination)).status, 'Broken');
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 4)).equals(whole));
    assert.ok((await restored.read(4, 12)).equals(Buffer.alloc(12 * MB)));
    relay.mend();
    await pair.status(job, /^Broken$/);
    assert.equal((await source.client.refused(mirrorJobs.break, { id: job })).code, 10100);
    assert.equal((await destination.client.refused(mirrorJobs.break, { id: remoteJob })).code, 10100);
  });

  await t.test('from its source, while the destination is out of reach: it is reported when it answers', async () => {
    await disk.write(0, whole);
    const { job, remoteJob, copy } = await pair.mirror(volume);
    await pair.shipped(copy, 1);
    await disk.write(0, randomBytes(16 * MB));
    relay.cutAfter(6 * MB);
    await pair.snapshot(volume, 'half again');
    await pair.status(job, /^Disconnected$/);
    await source.client.call(mirrorJobs.break, { id: job });
    assert.equal((await pair.show(job)).status, 'Broken');
    await source.restart();
    assert.notEqual((await pair.show(remoteJob, destination)).status, 'Broken');
    relay.mend();
    await pair.status(remoteJob, /^Broken$/, destination);
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 4)).equals(whole));
    await source.client.call(remoteArrays.delete, { id: 'rarray-00000001' });
  });
});

test('mirrors that meet with trouble at other times', async (t) => {
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  await t.test('nothing is left of a mirror that could not be made, at either end', async () => {
    const volume = await source.volume(pair.pool, { capacity: '8M' });
    const refused = async () => {
      const { code } = await source.client.refused(consistencyGroups.mirror, await pair.request(volume));
      assert.equal(code, 10107);
      assert.equal((await source.client.call(mirrorJobs.list, {})).count, 0);
      assert.equal((await source.client.call(snapshots.list, {})).count, 0);
    };
    relay.cut();
    await refused();
    relay.mend();
    relay.cutAtAnswer();
    await refused();
    await pair.until(async () => (await destination.client.call(volumes.list, {})).count === 1, 'it was made there');
    relay.mend();
    await pair.until(async () => (await destination.client.call(volumes.list, {})).count === 0, 'it is gone there');
    assert.equal((await destination.client.call(mirrorJobs.list, {})).count, 0);
    const { copy } = await pair.mirror(volume);
    await pair.shipped(copy, 1);
  });

  await t.test('a round goes on when controllers fail over, at either end, and when answers get lost', async (t) => {
    const volume = await source.volume(pair.pool);
    const disk = await testDisk(t, source, volume);
    const data = randomBytes(16 * MB);
    await disk.write(0, data);
    const { job, copy } = await pair.mirror(volume);
    await source.client.call(mirrorJobs.setRateLimit, { id: job, limit: 8 * 1024 });
    const before = relay.bytes;
    await pair.until(() => relay.bytes > before + 4 * MB, 'it is under way');
    await destination.client.call(controllers.failover, {});
    relay.cutAtAnswer();
    await pair.until(() => relay.isCut, 'an answer got lost');
    relay.mend();
    await source.client.call(controllers.failover, {});
    await pair.shipped(copy, 1);
    await pair.status(job, /^Idle$/);
    relay.cutAtAnswer();
    await source.client.call(mirrorJobs.break, { id: job });
    relay.mend();
    await pair.until(async () => {
      const { volume: record } = await destination.client.call(volumes.get, { id: copy });
      return record.has_mirror === 'NO';
    }, 'it is a volume like any other');
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 16)).equals(data));
  });

  await t.test('an encrypted volume is mirrored to where encryption is active, and is encrypted there', async (t) => {
    const password = { encryption_pwd: 'a long password' };
    await source.client.call(settings.setEncryptionPassword, password);
    const volume = await source.volume(pair.pool, { capacity: '16M', crypt: true });
    const disk = await testDisk(t, source, volume);
    const data = randomBytes(4 * MB);
    await disk.write(0, data);
    const refused = await source.client.refused(consistencyGroups.mirror, await pair.request(volume));
    assert.deepEqual([refused.code, /has no encryption password/.test(refused.message)], [10100, true]);
    await destination.client.call(settings.setEncryptionPassword, password);
    await source.client.call(remoteArrays.get, { id: 'rarray-00000001' });
    const { job, copy } = await pair.mirror(volume);
    await pair.shipped(copy, 1);
    assert.equal((await destination.client.call(volumes.get, { id: copy })).volume.encryption, 'YES');
    await source.client.call(mirrorJobs.break, { id: job });
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 4)).equals(data));
  });
});
