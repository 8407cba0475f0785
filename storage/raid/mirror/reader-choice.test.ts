import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BLOCK_BYTES } from '../../units.ts';
import { GroupRig } from '../testing/group-rig.ts';
import { SLICE_ROWS } from './reader-choice.ts';

const SLICE_BYTES = SLICE_ROWS * BLOCK_BYTES;
const SLICES = 4;

/** Three copies of four slices of data, with their checksums known. */
async function writtenMirror(random?: () => number): Promise<GroupRig> {
  const rig = await GroupRig.create({ members: 3, ...(random && { random }) });
  for (let slice = 0; slice < SLICES; slice += 1) {
    await rig.group.write(slice * SLICE_BYTES, Buffer.alloc(SLICE_BYTES, slice + 1));
  }
  return rig;
}

/** How many reads each drive counts for `work`. */
async function readsOf(rig: GroupRig, work: () => Promise<unknown>): Promise<number[]> {
  const count = () => rig.drives.map((drive) => drive.statistics().reads.count);
  const before = count();
  await work();
  return count().map((reads, index) => reads - (before[index] ?? 0));
}

async function readAll({ group }: GroupRig): Promise<void> {
  for (let slice = 0; slice < SLICES; slice += 1) {
    const into = Buffer.alloc(BLOCK_BYTES);
    await group.read(slice * SLICE_BYTES, into);
    assert.ok(into.equals(Buffer.alloc(BLOCK_BYTES, slice + 1)));
  }
}

test('a mirror that balances reads neighbouring slices from different members', async () => {
  const rig = await writtenMirror();
  assert.deepEqual(await readsOf(rig, () => readAll(rig)), [2, 1, 1]);
  await rig.group.close();
});

test('a mirror that reads from the first member reads from the next one when that fails', async () => {
  const rig = await writtenMirror();
  rig.group.setReadMode('first');
  assert.deepEqual(await readsOf(rig, () => readAll(rig)), [4, 0, 0]);
  rig.drives[0]?.fail();
  await readAll(rig);
  assert.deepEqual(await readsOf(rig, () => readAll(rig)), [0, 4, 0]);
  rig.group.setReadMode('balanced');
  assert.deepEqual(await readsOf(rig, () => readAll(rig)), [0, 2, 2]);
  await rig.group.close();
});

test('a mirror that reads from the least loaded member gives each the same number of requests at a time', async () => {
  const rig = await writtenMirror(() => 0);
  const { group } = rig;
  const readAtOnce = () =>
    Promise.all(
      Array.from({ length: 6 }, (_, block) =>
        Promise.resolve(group.read(block * BLOCK_BYTES, Buffer.alloc(BLOCK_BYTES))),
      ),
    );
  assert.deepEqual(await readsOf(rig, readAtOnce), [6, 0, 0]);
  group.setReadMode('least_loaded');
  assert.deepEqual(await readsOf(rig, readAtOnce), [2, 2, 2]);
  assert.deepEqual(await readsOf(rig, () => readAll(rig)), [2, 1, 1]);
  await group.close();
});
