import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_BYTES } from '../units.ts';
import type { RaidGroup } from './raid-group.ts';
import { GroupRig } from './testing/group-rig.ts';

const MEBIBYTE = 1024 * 1024;

function blocks(count: number, value: number): Buffer {
  return Buffer.alloc(count * BLOCK_BYTES, value);
}

async function valuesOf(group: RaidGroup, block: number, count: number): Promise<Set<number>> {
  const into = blocks(count, 0xaa);
  await group.read(block * BLOCK_BYTES, into);
  for (let at = 0; at < into.length; at += BLOCK_BYTES) {
    const first = into[at] ?? 0;
    assert.ok(
      into.subarray(at, at + BLOCK_BYTES).every((byte) => byte === first),
      'a block is old or new as a whole',
    );
  }
  return new Set(Array.from({ length: count }, (_, index) => into[index * BLOCK_BYTES] ?? 0));
}

async function contentOf(group: RaidGroup, count: number): Promise<Buffer> {
  const into = blocks(count, 0xaa);
  await group.read(0, into);
  return into;
}

async function refused(work: () => unknown): Promise<void> {
  await assert.rejects(async () => work(), { code: 'no-space' });
}

function assertNothingFailed(rig: GroupRig): void {
  assert.equal(rig.count('drive-failed') + rig.count('group-failed') + rig.count('block-lost'), 0);
  assert.ok(rig.group.state().members.every(({ state }) => state === 'active'));
}

for (const level of ['RAID1', 'RAID6'] as const) {
  describe(`a ${level} group on a full disk`, () => {
    for (const fitting of [0, 3, 5]) {
      it(`refuses a write of which ${fitting} blocks fit, keeps what it has, and goes on with room`, async () => {
        const rig = await GroupRig.create({ level });
        await rig.group.write(0, blocks(64, 1));
        for (const drive of rig.drives) drive.refuseSpace(fitting * BLOCK_BYTES);
        await refused(() => rig.group.write(8 * BLOCK_BYTES, blocks(32, 2)));
        await refused(() => rig.group.write(100 * BLOCK_BYTES, blocks(32, 2)));
        for (const [block, count] of [
          [0, 8],
          [40, 24],
        ] as const) {
          assert.deepEqual(await valuesOf(rig.group, block, count), new Set([1]));
        }
        assert.ok((await valuesOf(rig.group, 8, 32)).isSubsetOf(new Set([1, 2])));
        assert.ok((await valuesOf(rig.group, 100, 32)).isSubsetOf(new Set([0, 2])));
        assertNothingFailed(rig);
        for (const drive of rig.drives) drive.giveSpace();
        await rig.group.write(8 * BLOCK_BYTES, blocks(32, 3));
        assert.deepEqual(await valuesOf(rig.group, 8, 32), new Set([3]));
        assert.deepEqual(await valuesOf(rig.group, 40, 24), new Set([1]));
        await rig.group.rebuilt();
        assert.deepEqual(await rig.group.verify(), []);
        assertNothingFailed(rig);
        await rig.group.close();
      });
    }

    it('makes its copies agree again when only one drive had no room', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 1));
      rig.drives[1]?.refuseSpace();
      await refused(() => rig.group.write(0, blocks(64, 2)));
      rig.drives[1]?.giveSpace();
      assert.ok((await valuesOf(rig.group, 0, 64)).isSubsetOf(new Set([1, 2])));
      assert.deepEqual(await rig.group.verify(), []);
      assertNothingFailed(rig);
      await rig.group.close();
    });

    it('refuses a flush, keeps the checksums for the next one, and has all after that', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 1));
      for (const drive of rig.drives) drive.refuseSpace();
      await refused(() => rig.group.flush());
      await refused(() => rig.group.flush());
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([1]));
      for (const drive of rig.drives) drive.giveSpace();
      await rig.group.flush();
      assertNothingFailed(rig);
      await rig.reopen();
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([1]));
      assert.deepEqual(await rig.group.verify(), []);
    });

    it('refuses the first write to a region whose mark finds no room, and takes it later', async () => {
      const rig = await GroupRig.create({ level });
      for (const drive of rig.drives) drive.refuseSpace();
      await refused(() => rig.group.write(0, blocks(1, 1)));
      assert.deepEqual(await valuesOf(rig.group, 0, 8), new Set([0]));
      for (const drive of rig.drives) drive.giveSpace();
      await rig.group.write(0, blocks(8, 1));
      assert.deepEqual(await valuesOf(rig.group, 0, 8), new Set([1]));
      assert.deepEqual(await rig.group.verify(), []);
      assertNothingFailed(rig);
      await rig.group.close();
    });

    it('says so when it has no room while it is closed, and resyncs when it is opened', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 1));
      await rig.group.flush();
      for (const drive of rig.drives) drive.refuseSpace();
      await refused(() => rig.group.close());
      for (const drive of rig.drives) drive.giveSpace();
      await rig.reopen();
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([1]));
      await rig.group.close();
    });

    it('pauses a rebuild that finds no room, says so, and ends it with room', async () => {
      const rig = await GroupRig.create({ level, noSpaceRetryMs: 5, driveBytes: 20 * MEBIBYTE });
      await rig.group.write(0, blocks(512, 1));
      const target = rig.newDrive();
      await rig.group.replace(0, target);
      target.refuseSpace(64 * 1024);
      await rig.group.rebuilt();
      assert.ok(rig.events.some((event) => event.type === 'no-space' && event.work === 'rebuild'));
      assert.equal(rig.count('rebuild-finished') + rig.count('drive-failed'), 0);
      assert.deepEqual(await valuesOf(rig.group, 0, 512), new Set([1]));
      target.giveSpace();
      for (let wait = 0; wait < 200 && rig.count('rebuild-finished') === 0; wait += 1) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.equal(rig.group.state().members[0]?.driveId, target.id);
      assert.deepEqual(await rig.group.verify(), []);
      await rig.group.close();
    });

    it('reads on when a drive fails and there is no room to put that on record, and writes with room', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 1));
      for (const drive of rig.drives) drive.refuseSpace();
      rig.drives[0]?.fail();
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([1]));
      await refused(() => rig.group.write(0, blocks(1, 2)));
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([1]));
      for (const drive of rig.drives) drive.giveSpace();
      await rig.group.write(0, blocks(64, 2));
      assert.equal(rig.group.state().status, 'degraded');
      assert.deepEqual(await valuesOf(rig.group, 0, 64), new Set([2]));
      await rig.group.close();
    });
  });
}

/** Three blocks of data in a stripe; the journal is on the first two drives, a record of a whole stripe is 7 blocks. */
async function degraded(): Promise<GroupRig> {
  const rig = await GroupRig.create({ level: 'RAID6', stripeBytes: 4096 });
  await rig.group.write(0, blocks(30, 1));
  rig.drives[2]?.fail();
  await rig.group.write(0, blocks(30, 1));
  await rig.group.flush();
  return rig;
}

/** The process dies, and the disks have room when it comes back. */
async function crash(rig: GroupRig, lost?: number): Promise<void> {
  for (const drive of rig.drives) drive.giveSpace();
  await rig.reopen(rig.drives.filter((drive, index) => !drive.isFailed && index !== lost));
}

describe('a RAID6 group on a full disk with a drive missing', () => {
  it('keeps the blocks of the missing drive when a stripe is refused halfway, also over a crash', async () => {
    for (let fitting = 0; fitting < 40; fitting += 3) {
      const rig = await GroupRig.create({ level: 'RAID6', stripeBytes: 4096 });
      await rig.group.write(0, blocks(30, 1));
      rig.drives[2]?.fail();
      await rig.group.write(0, blocks(30, 1));
      for (const drive of rig.drives) drive.refuseSpace(fitting * BLOCK_BYTES);
      await Promise.resolve(rig.group.write(4 * BLOCK_BYTES, blocks(7, 2))).catch(() => undefined);
      const seen = await valuesOf(rig.group, 4, 7);
      assert.ok(seen.isSubsetOf(new Set([1, 2])));
      assert.deepEqual(await valuesOf(rig.group, 0, 4), new Set([1]));
      assert.deepEqual(await valuesOf(rig.group, 11, 19), new Set([1]));
      for (const drive of rig.drives) drive.giveSpace();
      if (fitting % 2 === 0) await rig.reopen(rig.drives.filter((drive) => !drive.isFailed));
      assert.deepEqual(await valuesOf(rig.group, 0, 4), new Set([1]));
      assert.deepEqual(await valuesOf(rig.group, 11, 19), new Set([1]));
      await rig.group.write(4 * BLOCK_BYTES, blocks(7, 3));
      assert.deepEqual(await valuesOf(rig.group, 4, 7), new Set([3]));
      assert.deepEqual(await rig.group.verify(), []);
    }
  });

  it('takes a write back that only one copy of the journal has room for', async () => {
    for (const full of [0, 1]) {
      const rig = await degraded();
      rig.drives[full]?.refuseSpace();
      await refused(() => rig.group.write(0, blocks(3, 2)));
      assert.deepEqual(await valuesOf(rig.group, 0, 30), new Set([1]));
      await crash(rig);
      assert.deepEqual(await valuesOf(rig.group, 0, 30), new Set([1]));
      assert.deepEqual(await rig.group.verify(), []);
    }
  });

  it('makes a write after all that it can neither put into the journal in full nor take back', async () => {
    for (const crashes of [true, false]) {
      const rig = await degraded();
      rig.drives[0]?.refuseSpace(7 * BLOCK_BYTES);
      rig.drives[1]?.refuseSpace();
      await refused(() => rig.group.write(0, blocks(3, 2)));
      assert.deepEqual(await valuesOf(rig.group, 0, 3), new Set([2]));
      await refused(() => rig.group.write(0, blocks(3, 3)));
      if (crashes) await crash(rig);
      else for (const drive of rig.drives) drive.giveSpace();
      assert.deepEqual(await valuesOf(rig.group, 0, 3), new Set([2]));
      assert.deepEqual(await valuesOf(rig.group, 3, 27), new Set([1]));
      await rig.group.write(0, blocks(3, 4));
      assert.deepEqual(await valuesOf(rig.group, 0, 3), new Set([4]));
      assert.deepEqual(await rig.group.verify(), []);
    }
  });

  it('has such a write in the journal twice before it makes it', async () => {
    const rig = await degraded();
    rig.drives[0]?.refuseSpace(7 * BLOCK_BYTES);
    rig.drives[1]?.refuseSpace();
    await refused(() => rig.group.write(0, blocks(3, 2)));
    await rig.group.rebuilt();
    for (const drive of rig.drives) drive.giveSpace();
    // Half of the stripe is written in its place, and the drive that had the only record is lost.
    rig.drives[4]?.refuseSpace();
    await refused(() => rig.group.write(0, blocks(3, 3)));
    await crash(rig, 0);
    assert.deepEqual(await valuesOf(rig.group, 0, 3), new Set([2]));
    assert.deepEqual(await valuesOf(rig.group, 3, 27), new Set([1]));
    assert.equal(rig.count('block-lost'), 0);
  });

  it('takes a write once there is room, though a try from before is still being refused', async () => {
    const rig = await degraded();
    rig.drives[0]?.refuseSpace(7 * BLOCK_BYTES);
    rig.drives[1]?.refuseSpace();
    await refused(() => rig.group.write(0, blocks(3, 2)));
    await rig.group.rebuilt();
    rig.drives[0]?.slow(50);
    const reading = valuesOf(rig.group, 0, 3);
    await new Promise((resolve) => setImmediate(resolve));
    for (const drive of rig.drives) drive.giveSpace();
    await rig.group.write(0, blocks(3, 3));
    assert.ok((await reading).isSubsetOf(new Set([2, 3])));
    assert.deepEqual(await valuesOf(rig.group, 0, 3), new Set([3]));
  });

  it('reads the same before and after a crash, however much of a refused write had room', async () => {
    for (const full of [[1], [0, 1, 3, 4]]) {
      for (let fitting = 0; fitting <= 24; fitting += 3) {
        const rig = await degraded();
        for (const index of full) rig.drives[index]?.refuseSpace(fitting * BLOCK_BYTES);
        await Promise.resolve(rig.group.write(4 * BLOCK_BYTES, blocks(9, 2))).catch(() => undefined);
        const before = await contentOf(rig.group, 30);
        await crash(rig);
        const after = await contentOf(rig.group, 30);
        assert.ok(after.equals(before), `${fitting} blocks fit on drives ${full.join()}`);
      }
    }
  });
});
