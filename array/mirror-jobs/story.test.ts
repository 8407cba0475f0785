import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { Random } from '../../testing/random.ts';
import { testDisk } from '../testing/test-disk.ts';
import { mirrorPair } from './testing/mirror-pair.ts';

const { mirrorJobs, snapshots } = arrayApi.groups;
const MB = 2 ** 20;
const SIZE_MB = 16;
const BLOCK = 4096;
const ROUNDS = process.env['GRANARY_TORTURE'] === '1' ? 40 : 6;

/**
 * Goal: a mirror that is broken at any moment is one of its source's snapshots, byte for byte.
 * Method: by a seed that is printed and that `GRANARY_TEST_SEED` replays, data is written and discarded, snapshots are
 * taken, and the cable is cut, answers are lost or an array is restarted meanwhile. In the end the mirror is broken in
 * the middle of whatever it does, and compared with what the source was when its last whole snapshot was taken.
 */
test('a mirror that is broken at any moment is a snapshot of its source', async (t) => {
  const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`GRANARY_TEST_SEED=${seed}`);
  const random = new Random(seed);
  const pair = await mirrorPair(t);
  const { source, destination, relay } = pair;
  const volume = await source.volume(pair.pool, { capacity: `${SIZE_MB}M` });
  const disk = await testDisk(t, source, volume);
  const image = Buffer.alloc(SIZE_MB * MB);
  const taken = new Map<string, Buffer>([['by hand (first)', Buffer.from(image)]]);

  const change = async () => {
    for (let n = random.below(6); n >= 0; n -= 1) {
      const blocks = 1 + random.below(256);
      const at = random.below((SIZE_MB * MB) / BLOCK - blocks) * BLOCK;
      const isDiscard = random.below(4) === 0;
      const bytes = isDiscard ? Buffer.alloc(blocks * BLOCK) : randomBytes(blocks * BLOCK);
      if (isDiscard) await disk.lun.unmap([{ lba: at / 512, blocks: bytes.length / 512 }]);
      else await disk.lun.write(at / 512, bytes);
      bytes.copy(image, at);
    }
  };
  const disturb = async () => {
    const what = random.below(12);
    if (what === 0) relay.cut();
    if (what === 1) relay.cutAtAnswer();
    if (what <= 4) relay.cutAfter(random.below(2 * MB));
    if (what === 5) await destination.restart();
    if (what === 6) {
      await source.restart();
      await disk.login(t);
    }
    await sleep(random.below(300));
    if (random.below(3) > 0) relay.mend();
  };

  const { job, remoteJob, copy } = await pair.mirror(volume);
  await pair.shipped(copy, 1);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await change();
    const name = `round ${round}`;
    await pair.snapshot(volume, name);
    taken.set(name, Buffer.from(image));
    await disturb();
  }
  relay.cut();
  await destination.client.call(mirrorJobs.break, { id: remoteJob });
  const { snapshots: received } = await destination.client.call(snapshots.list, {});
  const last = received.at(-1)!.display_name;
  t.diagnostic(`broken at ${last}`);
  const restored = await testDisk(t, destination, copy);
  assert.ok((await restored.read(0, SIZE_MB)).equals(taken.get(last)!), `it is not ${last}`);
  relay.mend();
  await pair.status(job, /^Broken$/);
});
