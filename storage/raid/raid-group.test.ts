import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turns } from '../../testing/turns.ts';
import { FaultyDrive } from '../drive/faulty-drive.ts';
import { MemoryDrive } from '../drive/testing/memory-drive.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import { layOut, type Layout } from './layout.ts';
import type { MembershipRecord } from './options.ts';
import { RaidGroup } from './raid-group.ts';
import { GroupRig } from './testing/group-rig.ts';

const MEBIBYTE = 1024 * 1024;
const REGION_BYTES = 4 * MEBIBYTE;

function blocks(count: number, value: number): Buffer {
  return Buffer.alloc(count * BLOCK_BYTES, value);
}

async function readBlock(group: RaidGroup, block: number, count = 1): Promise<Buffer> {
  const into = Buffer.alloc(count * BLOCK_BYTES, 0xaa);
  await group.read(block * BLOCK_BYTES, into);
  return into;
}

function layoutOf({ drives, group }: GroupRig): Layout {
  const { level, stripeBytes } = group.state();
  const memberBytes = drives[0]?.sizeBytes ?? 0;
  return layOut({ level, stripeBytes, memberBytes, memberCount: drives.length });
}

for (const level of ['RAID1', 'RAID6'] as const) {
  describe(`a ${level} group`, () => {
    it('offers whole extents and refuses what is beyond or between blocks', async () => {
      const { group } = await GroupRig.create({ level });
      assert.equal(group.capacityBytes % EXTENT_BYTES, 0);
      assert.throws(() => group.read(group.capacityBytes, blocks(1, 0)), { code: 'invalid' });
      assert.throws(() => group.write(512, blocks(1, 0)), { code: 'invalid' });
      assert.throws(() => group.write(0, Buffer.alloc(100)), { code: 'invalid' });
      await group.close();
    });

    it('reads zeros where nothing was written, also on drives that were used before', async () => {
      const rig = await GroupRig.create({ level });
      const drives = rig.drives.map((drive) => {
        const used = new MemoryDrive(drive.id, drive.sizeBytes);
        used.bytes.fill(0x77);
        return used;
      });
      const group = await RaidGroup.create({ id: 'used', level, members: drives });
      await group.write(3 * BLOCK_BYTES, blocks(1, 5));
      assert.ok((await readBlock(group, 0, 3)).equals(blocks(3, 0)));
      assert.ok((await readBlock(group, 3)).equals(blocks(1, 5)));
      assert.ok((await readBlock(group, 4, 100)).equals(blocks(100, 0)));
      assert.deepEqual(await group.verify(), []);
      await group.close();
    });

    it('reads zeros after a discard', async () => {
      const { group } = await GroupRig.create({ level });
      await group.write(0, blocks(200, 9));
      await group.discard(10 * BLOCK_BYTES, 150 * BLOCK_BYTES);
      assert.ok((await readBlock(group, 10, 150)).equals(blocks(150, 0)));
      assert.ok((await readBlock(group, 9)).equals(blocks(1, 9)));
      assert.ok((await readBlock(group, 160)).equals(blocks(1, 9)));
      assert.deepEqual(await group.verify(), []);
      await group.close();
    });

    it('needs no resync after it was closed in good order', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(50, 1));
      assert.ok(rig.group.state().dirtyRegions > 0);
      await rig.group.close();
      await rig.reopen();
      assert.equal(rig.count('resync-started'), 0);
      assert.equal(rig.group.state().dirtyRegions, 0);
      assert.ok((await readBlock(rig.group, 0, 50)).equals(blocks(50, 1)));
    });

    it('resyncs after a crash only what was marked, and before anyone reads it', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(50, 1));
      await rig.group.flush();
      await rig.reopen();
      assert.ok((await readBlock(rig.group, 0, 50)).equals(blocks(50, 1)));
      await rig.group.rebuilt();
      assert.deepEqual([rig.count('resync-started'), rig.count('resync-finished')], [1, 1]);
      assert.equal(rig.group.state().counters.resyncedRegions, 1);
      assert.equal(rig.group.state().status, 'normal');
    });

    it('goes on without a drive that fails, and has that on record before the write is answered', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(8, 1));
      const { events } = rig.group.state();
      rig.drives[1]?.fail();
      await rig.group.write(0, blocks(64, 2));
      const state = rig.group.state();
      assert.equal(state.status, 'degraded');
      assert.ok(state.events > events);
      assert.equal(rig.count('drive-failed'), 1);
      rig.drives[1]?.heal();
      const other = await RaidGroup.open({ drives: rig.drives });
      assert.equal(other.state().members[1]?.state, 'rebuilding');
      assert.ok((await readBlock(other, 0, 64)).equals(blocks(64, 2)));
    });

    it('brings a drive that comes back up to date by the regions that were written meanwhile', async () => {
      const rig = await GroupRig.create({ level, driveBytes: 40 * MEBIBYTE });
      await rig.group.write(0, blocks(64, 1));
      await rig.group.flush();
      const [away] = rig.drives as [FaultyDrive];
      away.fail();
      await rig.group.write(0, blocks(32, 2));
      away.heal();
      const before = away.statistics().writes.bytes;
      await rig.group.returnDrive(away);
      await rig.group.rebuilt();
      assert.equal(rig.group.state().status, 'normal');
      assert.ok(away.statistics().writes.bytes - before < 2 * REGION_BYTES);
      assert.deepEqual(await rig.group.verify(), []);
      assert.ok((await readBlock(rig.group, 0, 32)).equals(blocks(32, 2)));
      assert.ok((await readBlock(rig.group, 32, 32)).equals(blocks(32, 1)));
    });

    it('refuses everything and touches nothing once it lacks too many drives, and resumes when they return', async () => {
      const rig = await GroupRig.create({ level });
      const redundancy = level === 'RAID1' ? 1 : 2;
      await rig.group.write(0, blocks(64, 3));
      await rig.group.flush();
      for (const drive of rig.drives.slice(0, redundancy)) drive.fail();
      await rig.group.write(0, blocks(64, 4));
      await rig.group.flush();
      const last = rig.drives[redundancy] as FaultyDrive;
      last.fail();
      await assert.rejects(
        async () => {
          for (let block = 0; block < 200; block += 1) await rig.group.write(block * BLOCK_BYTES, blocks(1, 5));
        },
        { code: 'group-failed' },
      );
      const written = rig.drives.map((drive) => drive.statistics().writes.count);
      await assert.rejects(async () => rig.group.read(0, blocks(1, 0)), { code: 'group-failed' });
      await assert.rejects(rig.group.flush(), { code: 'group-failed' });
      assert.equal(rig.group.state().status, 'failed');
      assert.deepEqual(
        rig.drives.map((drive) => drive.statistics().writes.count),
        written,
      );
      for (const drive of rig.drives) drive.heal();
      await rig.group.returnDrive(last);
      await rig.group.rebuilt();
      assert.equal(rig.count('group-resumed'), 1);
      const [value] = await readBlock(rig.group, 63);
      assert.ok(value === 4 || value === 5);
    });

    it('is whole again after its drives failed once more while it was put together', async () => {
      const rig = await GroupRig.create({ level });
      const { journalOffset, intentOffset, dataOffset } = layoutOf(rig);
      await rig.group.write(0, blocks(64, 3));
      await rig.group.flush();
      for (const area of [intentOffset, journalOffset]) {
        for (const drive of rig.drives) drive.fail();
        await assert.rejects(rig.group.flush(), { code: 'group-failed' });
        for (const drive of rig.drives) drive.heal();
        for (const drive of rig.drives) drive.failReads(area, dataOffset - area);
        for (const drive of rig.drives) await rig.group.returnDrive(rig.hold(drive)).catch(() => undefined);
        for (const drive of rig.drives) drive.heal();
        for (const drive of rig.drives) await rig.group.returnDrive(rig.hold(drive)).catch(() => undefined);
        await rig.group.rebuilt();
        assert.equal(rig.group.state().status, 'normal');
      }
      await rig.group.close();
      assert.ok((await readBlock(await rig.reopen(), 0, 64)).equals(blocks(64, 3)));
    });

    it('comes back as it was when none of its drives took that one of them had failed', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 3));
      await rig.group.flush();
      rig.drives[0]?.fail();
      for (const drive of rig.drives.slice(1)) drive.failWrites(0, 2 * BLOCK_BYTES);
      await assert.rejects(rig.group.flush(), { code: 'group-failed' });
      for (const drive of rig.drives) drive.heal();
      for (const drive of rig.drives) await rig.group.returnDrive(rig.hold(drive)).catch(() => undefined);
      await rig.group.rebuilt();
      assert.equal(rig.group.state().status, 'normal');
      assert.ok((await readBlock(rig.group, 0, 64)).equals(blocks(64, 3)));
    });

    it('has all that was answered on its drives when it is at rest', async () => {
      const rig = await GroupRig.create({ level });
      for (const drive of rig.drives) drive.loseUnflushed();
      await rig.group.write(0, blocks(1, 2));
      const writes = Array.from({ length: 32 }, async (_, block) => rig.group.write(block * BLOCK_BYTES, blocks(1, 3)));
      await new Promise((resolve) => setImmediate(resolve));
      const resting = rig.group.atRest(() => {
        for (const drive of rig.drives) drive.fail();
      });
      const answered = await Promise.allSettled(writes);
      await assert.rejects(resting, { code: 'group-failed' });
      await rig.powerCut(() => 0);
      await rig.reopen();
      for (const [block, { status }] of answered.entries()) {
        if (status === 'fulfilled')
          assert.ok((await readBlock(rig.group, block)).equals(blocks(1, 3)), `block ${block}`);
      }
      assert.ok(answered.some(({ status }) => status === 'fulfilled'));
    });

    it('is there but failed when too many drives are missing at the start', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(10, 6));
      await rig.group.close();
      const few = rig.drives.slice(level === 'RAID1' ? 2 : 3);
      if (few.length === 0) return;
      const bytes = few.map((drive) => Buffer.from((drive.inner as MemoryDrive).bytes));
      await rig.reopen(few);
      assert.equal(rig.group.state().status, 'failed');
      await assert.rejects(async () => rig.group.read(0, blocks(1, 0)), { code: 'group-failed' });
      for (const [index, drive] of few.entries()) assert.ok((drive.inner as MemoryDrive).bytes.equals(bytes[index]!));
      for (const drive of rig.drives.slice(0, 3)) await rig.group.returnDrive(drive);
      await rig.group.rebuilt();
      assert.equal(rig.group.state().status, 'normal');
      assert.ok((await readBlock(rig.group, 0, 10)).equals(blocks(10, 6)));
    });

    it('reads from the others what a drive refuses to read, and goes on without that drive', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(64, 7));
      rig.drives[0]?.failReads(MEBIBYTE, 9 * MEBIBYTE);
      assert.ok((await readBlock(rig.group, 0, 64)).equals(blocks(64, 7)));
      await rig.group.scrub();
      assert.equal(rig.group.state().members[0]?.state, 'failed');
      assert.ok((await readBlock(rig.group, 0, 64)).equals(blocks(64, 7)));
    });

    it('takes a spare by itself and fills it', async () => {
      const rig = await GroupRig.create({ level, spares: 1 });
      await rig.group.write(0, blocks(300, 8));
      rig.drives[0]?.fail();
      await rig.group.flush();
      await rig.group.rebuilt();
      const state = rig.group.state();
      assert.equal(state.status, 'normal');
      assert.deepEqual(state.spares, []);
      assert.equal(state.members[0]?.driveId, rig.spares[0]?.id);
      assert.deepEqual([rig.count('spare-taken'), rig.count('rebuild-finished')], [1, 1]);
      assert.deepEqual(await rig.group.verify(), []);
      assert.ok((await readBlock(rig.group, 0, 300)).equals(blocks(300, 8)));
    });

    it('takes a spare that is added while a drive is missing, and gives one back', async () => {
      const rig = await GroupRig.create({ level });
      const spare = rig.newDrive();
      await rig.group.addSpare(spare);
      assert.deepEqual(rig.group.state().spares, [spare.id]);
      assert.equal(await rig.group.removeSpare(spare.id), spare);
      assert.deepEqual(rig.group.state().spares, []);
      rig.drives[0]?.fail();
      await rig.group.flush();
      await rig.group.addSpare(spare);
      await rig.group.rebuilt();
      assert.equal(rig.group.state().members[0]?.driveId, spare.id);
    });

    it('replaces a drive that works without losing redundancy meanwhile', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(500, 4));
      const fresh = rig.newDrive();
      await rig.group.replace(1, fresh);
      assert.equal(rig.group.state().members[1]?.state, 'active');
      await rig.group.write(100 * BLOCK_BYTES, blocks(100, 5));
      await rig.group.rebuilt();
      assert.equal(rig.group.state().members[1]?.driveId, fresh.id);
      assert.deepEqual(await rig.group.verify(), []);
      rig.drives[1] = fresh;
      await rig.reopen();
      assert.equal(rig.group.state().members[1]?.state, 'active');
      assert.ok((await readBlock(rig.group, 100, 100)).equals(blocks(100, 5)));
    });

    it('goes on with the successor when the drive being replaced fails', async () => {
      const rig = await GroupRig.create({ level, resyncSpeed: { minimumBytesPerSecond: 1, maximumBytesPerSecond: 2 } });
      await rig.group.write(0, blocks(500, 4));
      const fresh = rig.newDrive();
      await rig.group.replace(1, fresh);
      rig.drives[1]?.fail();
      await rig.group.flush();
      assert.equal(rig.group.state().members[1]?.driveId, fresh.id);
      rig.group.setResyncSpeed({ minimumBytesPerSecond: 2 ** 40, maximumBytesPerSecond: 2 ** 40 });
      await rig.group.rebuilt();
      assert.equal(rig.group.state().status, 'normal');
      assert.deepEqual(await rig.group.verify(), []);
    });

    it('fills only what was written', async () => {
      const rig = await GroupRig.create({ level, driveBytes: 64 * MEBIBYTE });
      await rig.group.write(0, blocks(10, 4));
      const fresh = rig.newDrive();
      await rig.group.replace(0, fresh);
      await rig.group.rebuilt();
      assert.ok(fresh.statistics().writes.bytes < REGION_BYTES);
    });

    it('goes on with a rebuild where the superblock says it was', async () => {
      const rig = await GroupRig.create({ level, driveBytes: 300 * MEBIBYTE });
      await rig.group.write(0, blocks(10, 4));
      const fresh = rig.newDrive();
      rig.drives[0]?.fail();
      await rig.group.flush();
      await rig.group.replace(0, fresh);
      const last = rig.group.state().members[0]!;
      assert.equal(last.state, 'rebuilding');
      while ((rig.group.state().members[0]?.pendingBytes ?? 0) > 4 * REGION_BYTES) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      rig.drives[0] = fresh;
      const copies = rig.drives.map((drive) => {
        const copy = new MemoryDrive(drive.id, drive.sizeBytes);
        (drive.inner as MemoryDrive).bytes.copy(copy.bytes);
        return copy;
      });
      const speed = { minimumBytesPerSecond: 1, maximumBytesPerSecond: 1 };
      const other = await RaidGroup.open({ drives: copies, resyncSpeed: speed });
      assert.ok((other.state().members[0]?.pendingBytes ?? 0) < 20 * REGION_BYTES);
      await rig.group.rebuilt();
    });

    it('is brought in line by a scrub that can be paused, resumed and cancelled', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.write(0, blocks(600, 4));
      rig.group.pauseScrub();
      const running = rig.group.scrub();
      await waitUntil(() => rig.group.state().status === 'scrubbing');
      await turns();
      assert.equal(rig.group.state().status, 'scrubbing');
      assert.ok(rig.group.state().scrub.isPaused);
      await assert.rejects(rig.group.scrub(), { code: 'conflict' });
      rig.group.resumeScrub();
      assert.deepEqual(await running, { mismatches: 0, repaired: 0, lost: 0 });
      await assert.rejects(rig.group.scrub({ signal: AbortSignal.abort() }), { code: 'cancelled' });
      const seen: number[] = [];
      await rig.group.scrub({ onProgress: (fraction) => seen.push(fraction) });
      assert.equal(seen.at(-1), 1);
    });

    it('refuses requests once closed', async () => {
      const rig = await GroupRig.create({ level });
      await rig.group.close();
      await assert.rejects(async () => rig.group.read(0, blocks(1, 0)), { code: 'closed' });
      await assert.rejects(async () => rig.group.write(0, blocks(1, 0)), { code: 'closed' });
      await assert.rejects(rig.group.flush(), { code: 'closed' });
      await rig.group.close();
    });

    it('does not accept a stale drive as the newest when given the event count', async () => {
      const rig = await GroupRig.create({ level, members: level === 'RAID1' ? 2 : 4 });
      const stale = rig.drives.slice(0, level === 'RAID1' ? 1 : 2);
      for (const drive of stale) drive.fail();
      await rig.group.write(0, blocks(1, 1));
      await rig.group.flush();
      const { events } = rig.group.state();
      for (const drive of stale) drive.heal();
      await assert.rejects(RaidGroup.open({ drives: stale, minimumEvents: events }), { code: 'conflict' });
    });

    it('does not go on with a stale drive that returns to it once it is lost', async () => {
      const rig = await GroupRig.create({ level, members: level === 'RAID1' ? 2 : 4 });
      const stale = rig.drives.slice(0, level === 'RAID1' ? 1 : 2);
      const last = rig.drives.at(-1);
      for (const drive of stale) drive.fail();
      await rig.group.write(0, blocks(1, 1));
      await rig.group.flush();
      for (const drive of rig.drives) drive.fail();
      await assert.rejects(rig.group.flush(), { code: 'group-failed' });
      for (const drive of stale) drive.heal();
      for (const drive of stale) await assert.rejects(rig.group.returnDrive(drive), { code: 'conflict' });
      assert.equal(rig.group.state().status, 'failed');
      for (const drive of rig.drives) drive.heal();
      await rig.group.returnDrive(last as FaultyDrive);
      await rig.group.rebuilt();
      assert.ok((await readBlock(rig.group, 0)).equals(blocks(1, 1)));
      await rig.group.close();
    });

    it('reports its membership before a write that a member missed is acknowledged', async () => {
      const records: MembershipRecord[] = [];
      const held = Promise.withResolvers<undefined>();
      const onRecorded = async (record: MembershipRecord): Promise<void> => {
        records.push(record);
        await held.promise;
      };
      const rig = await GroupRig.create({ level });
      await rig.group.close();
      const group = await RaidGroup.open({ drives: rig.drives, ...rig.runtime(), onRecorded });
      rig.drives[0]?.fail();
      let isAnswered = false;
      const writing = Promise.resolve(group.write(0, blocks(1, 1))).then(() => (isAnswered = true));
      await waitUntil(() => records.length > 0);
      await turns();
      assert.equal(isAnswered, false);
      assert.deepEqual(
        records[0]?.members,
        rig.drives.map(({ id }) => id),
      );
      assert.equal(records[0].events, group.state().events);
      held.resolve(undefined);
      await writing;
      await group.close();
    });

    it('is scrubbed from a given place, and counts what background work took', async () => {
      const rig = await GroupRig.create({ level, driveBytes: 24 * MEBIBYTE });
      await rig.group.write(0, blocks(64, 1));
      await rig.drives[0]?.corrupt(layoutOf(rig).dataOffset, BLOCK_BYTES, () => 0.5);
      const seen: number[] = [];
      const skipped = await rig.group.scrub({ from: 0.5, onProgress: (fraction) => seen.push(fraction) });
      assert.deepEqual([skipped.mismatches, seen.every((fraction) => fraction > 0.5)], [0, true]);
      const before = rig.group.state().backgroundBytes;
      assert.equal((await rig.group.scrub()).mismatches, 1);
      assert.ok(rig.group.state().backgroundBytes > before);
      await rig.group.close();
    });

    it('clears the write-intent log some time after the last write, but not while a drive is missing', async () => {
      const rig = await GroupRig.create({ level, intentIdleMs: 15 });
      await rig.group.write(0, blocks(1, 1));
      assert.equal(rig.group.state().dirtyRegions, 1);
      await waitUntil(() => rig.group.state().dirtyRegions === 0);
      rig.drives[0]?.fail();
      await rig.group.write(0, blocks(40, 1));
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(rig.group.state().dirtyRegions, 1);
      await rig.group.close();
    });

    it('keeps as few checksums in memory as configured and is right all the same', async () => {
      const rig = await GroupRig.create({ level, checksumCacheBytes: 0, driveBytes: 200 * MEBIBYTE });
      const step = 3 * MEBIBYTE;
      const count = Math.floor(rig.group.capacityBytes / step);
      for (let index = 0; index < count; index += 1) await rig.group.write(index * step, blocks(1, 1 + (index % 250)));
      for (let index = 0; index < count; index += 1) {
        const block = blocks(1, 0);
        await rig.group.read(index * step, block);
        assert.equal(block[17], 1 + (index % 250));
      }
      assert.deepEqual(await rig.group.verify(), []);
    });
  });
}

describe('a group', () => {
  it('is laid out within its smallest member', () => {
    const layout = layOut({ level: 'RAID6', memberCount: 6, stripeBytes: 65536, memberBytes: 2 ** 40 });
    assert.equal(layout.dataOffset % MEBIBYTE, 0);
    assert.ok(layout.dataOffset + layout.rows * BLOCK_BYTES <= 2 ** 40);
    assert.ok(layout.checksumOffset + layout.regions * BLOCK_BYTES <= layout.dataOffset);
    assert.equal(layout.capacityBytes, layout.rows * BLOCK_BYTES * 4);
    assert.throws(() => layOut({ ...layout, memberCount: 3 }), { code: 'invalid' });
    assert.throws(() => layOut({ ...layout, stripeBytes: 5000 }), { code: 'invalid' });
    assert.throws(() => layOut({ ...layout, memberBytes: MEBIBYTE }), { code: 'invalid' });
  });

  it('reads a superblock of which the newest copy was torn', async () => {
    const rig = await GroupRig.create();
    await rig.group.close();
    for (const drive of rig.drives) (drive.inner as MemoryDrive).bytes.fill(0xff, 100, 200);
    const group = await RaidGroup.open({ drives: rig.drives });
    assert.equal(group.id, 'group-1');
  });

  it('is not opened from drives of several groups without a name', async () => {
    const [first, second] = [await GroupRig.create(), await GroupRig.create()];
    const other = await RaidGroup.create({ id: 'group-2', level: 'RAID1', members: second.drives });
    await Promise.all([first.group.close(), other.close()]);
    const drives = [...first.drives, ...second.drives];
    await assert.rejects(RaidGroup.open({ drives }), { code: 'invalid' });
    assert.equal((await RaidGroup.open({ id: 'group-2', drives })).id, 'group-2');
    await assert.rejects(RaidGroup.open({ id: 'group-3', drives }), { code: 'not-found' });
  });

  it('refuses a spare that is too small or in it already', async () => {
    const rig = await GroupRig.create();
    const small = new FaultyDrive(new MemoryDrive('small', MEBIBYTE));
    await assert.rejects(rig.group.addSpare(small), { code: 'invalid' });
    await assert.rejects(rig.group.addSpare(rig.hold(rig.drives[0]!)), { code: 'conflict' });
    await assert.rejects(rig.group.returnDrive(rig.newDrive()), { code: 'conflict' });
  });

  it('paces a rebuild to the minimum while others are at work and to the maximum otherwise', async () => {
    const speed = { minimumBytesPerSecond: 2 * MEBIBYTE, maximumBytesPerSecond: 20 * MEBIBYTE };
    const rig = await GroupRig.create({ resyncSpeed: speed });
    await rig.group.write(0, blocks(1024, 4));
    await new Promise((resolve) => setTimeout(resolve, 250));
    // A machine that stands still for a moment makes it longer, never shorter: then it is done again.
    let idleMs = Infinity;
    for (let turn = 0; turn < 5 && idleMs >= 1500; turn += 1) {
      const start = performance.now();
      await rig.group.replace(0, rig.newDrive());
      await rig.group.rebuilt();
      idleMs = performance.now() - start;
      assert.ok(idleMs > 150, `${idleMs} ms for 4 MiB at up to 20 MiB/s`);
    }
    assert.ok(idleMs < 1500, `${idleMs} ms for 4 MiB at up to 20 MiB/s`);
    const timer = setInterval(() => void rig.group.read(0, blocks(1, 0)), 20);
    const busyStart = performance.now();
    await rig.group.replace(0, rig.newDrive());
    await rig.group.rebuilt();
    clearInterval(timer);
    const busyMs = performance.now() - busyStart;
    assert.ok(busyMs > 1400, `${busyMs} ms for 4 MiB at 2 MiB/s`);
  });

  it('serialises writes that overlap', async () => {
    const rig = await GroupRig.create({ random: () => 0.2 });
    await Promise.all(Array.from({ length: 50 }, async (_, index) => rig.group.write(0, blocks(4, index + 1))));
    const read = await readBlock(rig.group, 0, 4);
    assert.ok(read.equals(blocks(4, read[0]!)));
    assert.deepEqual(await rig.group.verify(), []);
  });
});

async function waitUntil(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < endMs, 'waited for too long');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
