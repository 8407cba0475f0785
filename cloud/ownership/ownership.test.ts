import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { temporaryStore } from '../../kernel/testing/temporary-store.ts';
import { claimText, Ownership } from './ownership.ts';

const original = { portal: 'p', home: 'h', instance: 'i1', boot: 'b1' };
const refused = (reason: RegExp) => ({ entry: 'cloud_claimed', message: reason });

function scene(t: TestContext, copyOf?: string) {
  let now = 1_000_000;
  let adopted = 0;
  const ownership = new Ownership({
    store: temporaryStore(t),
    clock: { now: () => now },
    copyOf,
    onAdopted: () => Promise.resolve(void (adopted += 1)),
  });
  return { ownership, pass: (ms: number) => (now += ms), adopted: () => adopted };
}

test('the first portal commands; another one is refused until it is moved, and the first one from then on', async (t) => {
  const { ownership } = scene(t);
  ownership.require(undefined);
  const { epoch } = await ownership.claim(original);
  const first = claimText({ ...original, epoch });
  ownership.require(first);
  assert.throws(() => ownership.require(undefined), refused(/belongs to portal p/));
  const other = { portal: 'q', home: 'g', instance: 'i2', boot: 'b2' };
  await assert.rejects(ownership.claim(other), refused(/another portal/));
  ownership.require(first);
  const moved = await ownership.claim({ ...other, force: true });
  ownership.require(claimText({ ...other, epoch: moved.epoch }));
  assert.throws(() => ownership.require(first), refused(/belongs to portal q/));
  await assert.rejects(ownership.claim(original), refused(/another portal/));
});

test('a copy of the portal is refused, whether the original lives or not', async (t) => {
  const { ownership, pass } = scene(t);
  await ownership.claim(original);
  const copy = { ...original, home: 'copied', instance: 'i2' };
  await assert.rejects(ownership.claim(copy), refused(/belongs to another copy of this portal/));
  pass(3_600_000);
  await assert.rejects(ownership.claim(copy), refused(/belongs to another copy of this portal/));
});

test('a portal that starts again takes over at once, and its process of before is refused', async (t) => {
  const { ownership } = scene(t);
  const before = await ownership.claim(original);
  assert.deepEqual(await ownership.claim(original), before, 'asking again changes nothing');
  const after = await ownership.claim({ ...original, instance: 'i2' });
  assert.ok(after.epoch > before.epoch);
  assert.throws(() => ownership.require(claimText({ ...original, epoch: before.epoch })), refused(/epoch/));
});

test('a cloned machine with the same portal is refused while the first is heard from', async (t) => {
  const { ownership, pass } = scene(t);
  await ownership.claim(original);
  const clone = { ...original, instance: 'i2', boot: 'b2' };
  await assert.rejects(ownership.claim(clone), refused(/alive on another machine/));
  pass(60_000);
  await ownership.claim(clone);
});

test('a copied cloud takes no command until an administrator puts it in charge', async (t) => {
  const { ownership, adopted } = scene(t, 'its data folder is a copy of /data');
  assert.throws(() => ownership.require(undefined), refused(/copy of \/data/));
  await assert.rejects(ownership.claim(original), refused(/copy of \/data/));
  const { epoch } = await ownership.claim({ ...original, force: true });
  assert.equal(adopted(), 1);
  ownership.require(claimText({ ...original, epoch }));
});
