import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testDisk } from '../testing/test-disk.ts';
import { mirrorPair } from './testing/mirror-pair.ts';

const { mirrorJobs, remoteArrays, snapshots } = arrayApi.groups;
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

  await t.test('from its source, while the destination is out of reach: it is told when it answers', async () => {
    await disk.write(0, whole);
    const { job, remoteJob, copy } = await pair.mirror(volume);
    await pair.shipped(copy, 1);
    await disk.write(0, randomBytes(16 * MB));
    relay.cutAfter(6 * MB);
    await pair.snapshot(volume, 'half again');
    await pair.status(job, /^Disconnected$/);
    await source.client.call(mirrorJobs.break, { id: job });
    assert.equal((await pair.show(job)).status, 'Broken');
    assert.equal((await source.client.refused(remoteArrays.delete, { id: 'rarray-00000001' })).code, 10100);
    await source.restart();
    assert.notEqual((await pair.show(remoteJob, destination)).status, 'Broken');
    relay.mend();
    await pair.status(remoteJob, /^Broken$/, destination);
    const restored = await testDisk(t, destination, copy);
    assert.ok((await restored.read(0, 4)).equals(whole));
    await pair.until(async () => {
      const { response } = await removed(pair.source.configuration.managementUrl, pair.source.user.access_key);
      return response.status === 0;
    }, 'nothing is left to be told, and the remote array can be forgotten');
  });
});

async function removed(url: string, key: string): Promise<{ response: { status: number } }> {
  const answer = await fetch(`${url}/api/remote_arrays/rarray-00000001`, {
    method: 'DELETE',
    headers: { 'x-access-key': key },
  });
  return (await answer.json()) as { response: { status: number } };
}
