import assert from 'node:assert/strict';
import { mkdir, rename, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { FOUR_PLUS_TWO, Rig, THREE_COPIES, TWO_COPIES } from '../testing/rig.ts';
import type { WantedPolicy } from '../layout/manager-types.ts';

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Puts, overwrites, deletes and reads without pause; each key has one owner, so each read has one right answer. */
function clients(rig: Rig, pick: (below: number) => number): () => Promise<number> {
  let isOver = false;
  let done = 0;
  const run = async (name: string): Promise<void> => {
    while (!isOver) {
      const key = `${name}-${pick(60)}`;
      if (pick(5) === 0) await rig.delete(key);
      else await rig.put(key, Buffer.alloc(1 + pick(pick(20) === 0 ? 3_000_000 : 6000), pick(256)));
      const read = `${name}-${pick(60)}`;
      const expected = rig.objects.get(read);
      const found = await rig.get(read);
      assert.ok(expected === undefined ? found === undefined : found?.equals(expected), read);
      done += 1;
    }
  };
  const runs = Promise.all(['a', 'b', 'c'].map(run));
  runs.catch(() => undefined);
  return async () => {
    isOver = true;
    await runs;
    return done;
  };
}

async function fault(rig: Rig, pick: (below: number) => number): Promise<void> {
  const { folder } = rig.drives[pick(rig.drives.length)]!;
  switch (pick(5)) {
    case 0:
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 5 });
      await mkdir(folder, { recursive: true });
      break;
    case 1:
      await rename(folder, `${folder}.away`);
      await new Promise((resolve) => setTimeout(resolve, 150));
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 5 });
      await rename(`${folder}.away`, folder);
      break;
    case 2:
      rig.addDrive({ zone: `zone-${pick(3)}` });
      await rig.follow();
      break;
    case 3:
      await rig.manager.compact();
      break;
    default:
      await rig.manager.scrub();
  }
}

async function runStory(policy: WantedPolicy, drives: number, seed: number): Promise<void> {
  const pick = random(seed);
  const rig = await Rig.make(policy, drives, { segmentGraceMs: 1000, compactionMs: 300, retryMs: 200 });
  try {
    const stop = clients(rig, pick);
    for (let faults = 0; faults < 5; faults += 1) {
      await fault(rig, pick);
      await rig.rested(`rest after fault ${faults}`);
    }
    assert.ok((await stop()) > 0);
    await rig.rested('rest');
    await rig.verifyAll();
    assert.deepEqual(rig.errors, []);
    await rig.endWell();
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error });
  } finally {
    await rig.remove();
  }
}

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
for (const [policy, drives] of [
  [TWO_COPIES, 3],
  [THREE_COPIES, 4],
  [FOUR_PLUS_TWO, 7],
] as const) {
  test(`${policy.name}: clients notice nothing of drives that fail, come and go (seed ${seed})`, () =>
    runStory(policy, drives, seed));
}
