import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { below, randomFrom } from '../../testing/random.ts';
import type { MemoryDrive } from '../drive/testing/memory-drive.ts';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import { layOut } from './layout.ts';
import type { RaidLevel } from './layout.ts';
import { GroupModel } from './testing/group-model.ts';
import { GroupRig } from './testing/group-rig.ts';

const INJECTIONS = 100;
/** Whole stripes in all the groups below. */
const BLOCKS = 1280;

/** A group full of known blocks, and where they are on its drives. */
async function prepare(level: RaidLevel, members: number, stripeBytes: number) {
  const rig = await GroupRig.create({ level, members, stripeBytes });
  const model = new GroupModel();
  const tags = Array.from({ length: BLOCKS }, () => model.newTag());
  await rig.group.write(0, model.content(tags));
  model.set(0, tags);
  await rig.group.flush();
  const layout = layOut({ level, memberCount: members, stripeBytes, memberBytes: rig.drives[0]!.sizeBytes });
  const rows = level === 'RAID1' ? BLOCKS : Math.floor(BLOCKS / layout.dataMembers);
  return { rig, model, layout, rows };
}

/** Damages one block in each of many rows: a few bytes, a sector, or all of it. */
async function inject(
  { rig, layout, rows }: Awaited<ReturnType<typeof prepare>>,
  random: () => number,
  perRow: number,
) {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(INJECTIONS / perRow, rows)) chosen.add(below(random, rows));
  let injected = 0;
  for (const row of chosen) {
    const first = below(random, rig.drives.length);
    for (let index = 0; index < perRow; index += 1) {
      const length = [1, 512, BLOCK_BYTES][below(random, 3)]!;
      const at = below(random, BLOCK_BYTES - length + 1);
      const drive = rig.drives[(first + index) % rig.drives.length]!;
      await drive.corrupt(layout.dataOffset + row * BLOCK_BYTES + at, length, random);
      injected += 1;
    }
  }
  return injected;
}

async function readAll({ rig, model }: Awaited<ReturnType<typeof prepare>>): Promise<void> {
  for (let block = 0; block < BLOCKS; block += 7) {
    const into = Buffer.alloc(Math.min(7, BLOCKS - block) * BLOCK_BYTES);
    await rig.group.read(block * BLOCK_BYTES, into);
    model.check(block, into);
  }
}

for (const [level, members, stripeBytes, perRow] of [
  ['RAID1', 2, 65536, 1],
  ['RAID1', 3, 65536, 2],
  ['RAID6', 4, 4096, 2],
  ['RAID6', 6, 16384, 1],
  ['RAID6', 6, 65536, 2],
] as const) {
  describe(`${perRow} damaged blocks in a row of ${level} of ${members}`, () => {
    it(`a scrub finds and mends ${INJECTIONS} of ${INJECTIONS}`, async () => {
      const group = await prepare(level, members, stripeBytes);
      const injected = await inject(group, randomFrom(members), perRow);
      assert.equal(injected, INJECTIONS);
      assert.notDeepEqual(await group.rig.group.verify(), []);
      const result = await group.rig.group.scrub();
      assert.deepEqual(result, { mismatches: injected, repaired: injected, lost: 0 });
      assert.deepEqual(await group.rig.group.verify(), []);
      assert.equal(group.rig.count('block-repaired'), injected);
      await readAll(group);
    });

    it('readers never see them, and what is read is mended', async () => {
      const group = await prepare(level, members, stripeBytes);
      await inject(group, randomFrom(members + 10), perRow);
      await readAll(group);
      const { repairedBlocks } = group.rig.group.state().counters;
      assert.ok(repairedBlocks > 0);
      await readAll(group);
      assert.equal(group.rig.group.state().counters.repairedBlocks, repairedBlocks);
      await group.rig.group.scrub();
      assert.deepEqual(await group.rig.group.verify(), []);
      await readAll(group);
    });

    it('writers work on what is right', async () => {
      const group = await prepare(level, members, stripeBytes);
      await inject(group, randomFrom(members + 20), perRow);
      for (let block = 0; block < BLOCKS; block += 3) {
        const tag = group.model.newTag();
        await group.rig.group.write(block * BLOCK_BYTES, group.model.content([tag]));
        group.model.set(block, [tag]);
      }
      await readAll(group);
      await group.rig.group.scrub();
      assert.deepEqual(await group.rig.group.verify(), []);
      await readAll(group);
    });
  });
}

describe('damage', () => {
  it('to the checksums themselves is mended from the other members', async () => {
    for (const [level, members] of [
      ['RAID1', 2],
      ['RAID6', 5],
    ] as const) {
      const group = await prepare(level, members, 65536);
      await group.rig.group.close();
      await group.rig.drives[0]!.corrupt(group.layout.checksumOffset + 40, 200, randomFrom(3));
      await group.rig.reopen();
      await readAll(group);
      await group.rig.group.scrub();
      assert.deepEqual(await group.rig.group.verify(), []);
      await readAll(group);
    }
  });

  it('of a drive made by an earlier version, whose checksums were zeroed, is mended without a write to the others', async () => {
    const rig = await GroupRig.create({ level: 'RAID6', members: 5, stripeBytes: 65536, format: 1 });
    const model = new GroupModel();
    const tags = Array.from({ length: BLOCKS }, () => model.newTag());
    await rig.group.write(0, model.content(tags));
    model.set(0, tags);
    await rig.group.close();
    const memberBytes = rig.drives[0]!.sizeBytes;
    const layout = layOut({ format: 1, level: 'RAID6', memberCount: 5, stripeBytes: 65536, memberBytes });
    const drives = rig.drives.map((drive) => (drive.inner as MemoryDrive).bytes);
    drives[1]!.fill(0, layout.checksumOffset, layout.dataOffset);
    const before = drives.map((bytes) => Buffer.from(bytes.subarray(layout.checksumOffset)));
    await rig.reopen();
    const { mismatches, repaired, lost } = await rig.group.scrub();
    assert.deepEqual([mismatches > 0, mismatches - repaired, lost], [true, 0, 0]);
    for (const [slot, bytes] of drives.entries()) {
      if (slot !== 1) assert.ok(bytes.subarray(layout.checksumOffset).equals(before[slot]!), `drive ${slot}`);
    }
    await readAll({ rig, model, layout, rows: 0 });
    assert.deepEqual(await rig.group.verify(), []);
  });

  it('that makes the checksums of all drives unreadable ends in an error', async () => {
    const group = await prepare('RAID6', 5, 65536);
    await group.rig.group.close();
    await group.rig.reopen();
    const { checksumOffset, dataOffset } = group.layout;
    for (const drive of group.rig.drives) drive.failReads(checksumOffset, dataOffset - checksumOffset);
    const block = Buffer.alloc(BLOCK_BYTES);
    await assert.rejects(async () => group.rig.group.write(0, block), { code: 'group-failed' });
  });

  it('to the checksums of the only drive left is an error, not zeros', async () => {
    const group = await prepare('RAID1', 2, 65536);
    group.rig.drives[1]!.fail();
    await group.rig.group.flush();
    await group.rig.group.close();
    const { bytes } = group.rig.drives[0]!.inner as MemoryDrive;
    bytes.fill(0, group.layout.checksumOffset, group.layout.dataOffset);
    await group.rig.reopen(group.rig.drives.slice(0, 1));
    const block = Buffer.alloc(BLOCK_BYTES);
    await assert.rejects(async () => group.rig.group.read(0, block), { code: 'unreadable' });
    group.rig.drives[1]!.heal();
    await group.rig.group.returnDrive(group.rig.hold(group.rig.drives[1]!));
    await group.rig.group.rebuilt();
  });

  it('to the superblock of a drive in use is found by a scrub, and the drive is rebuilt', async () => {
    for (const [level, members] of [
      ['RAID1', 2],
      ['RAID6', 5],
    ] as const) {
      const group = await prepare(level, members, 65536);
      const { bytes } = group.rig.drives[1]!.inner as MemoryDrive;
      bytes.fill(0, 0, 2 * BLOCK_BYTES);
      await group.rig.group.scrub();
      await group.rig.group.rebuilt();
      assert.deepEqual([group.rig.count('drive-failed'), group.rig.count('rebuild-finished')], [1, 1]);
      assert.equal(group.rig.group.state().status, 'normal');
      await readAll(group);
      assert.deepEqual(await group.rig.group.verify(), []);
    }
  });

  it('to the superblocks of more drives than a group can miss fails none of them', async () => {
    const group = await prepare('RAID1', 2, 65536);
    for (const drive of group.rig.drives) (drive.inner as MemoryDrive).bytes.fill(0, 0, 2 * BLOCK_BYTES);
    await group.rig.group.verifyMembers();
    assert.equal(group.rig.group.state().status, 'normal');
    await group.rig.reopen();
    await readAll(group);
  });

  it('beyond repair is reported, never returned as data, and gone once the blocks are written anew', async () => {
    for (const [level, members, copies] of [
      ['RAID1', 2, 2],
      ['RAID6', 5, 3],
    ] as const) {
      const group = await prepare(level, members, 65536);
      const random = randomFrom(5);
      for (const drive of group.rig.drives.slice(0, copies)) {
        await drive.corrupt(group.layout.dataOffset + 5 * BLOCK_BYTES, 100, random);
      }
      const lost: number[] = [];
      const block = Buffer.alloc(BLOCK_BYTES);
      for (let index = 0; index < BLOCKS; index += 1) {
        try {
          await group.rig.group.read(index * BLOCK_BYTES, block);
          group.model.check(index, block);
        } catch (error) {
          assert.ok(error instanceof StorageError && error.code === 'unreadable');
          lost.push(index);
        }
      }
      assert.ok(lost.length >= 1 && lost.length <= copies);
      assert.ok((await group.rig.group.scrub()).lost > 0);
      for (const index of lost) {
        const tag = group.model.newTag();
        await group.rig.group.write(index * BLOCK_BYTES, group.model.content([tag]));
        group.model.set(index, [tag]);
      }
      await readAll(group);
      await group.rig.group.scrub();
      assert.deepEqual(await group.rig.group.verify(), []);
    }
  });

  it('that lost blocks stays reported after a rebuild, and after others of the stripe were written', async () => {
    const group = await prepare('RAID6', 5, 65536);
    for (const drive of group.rig.drives.slice(0, 3)) {
      await drive.corrupt(group.layout.dataOffset, 100, randomFrom(6));
    }
    const firstOfChunks = [0, 16, 32];
    const findLost = async () => {
      const lost: number[] = [];
      for (const block of firstOfChunks) {
        try {
          await group.rig.group.read(block * BLOCK_BYTES, Buffer.alloc(BLOCK_BYTES));
        } catch {
          lost.push(block);
        }
      }
      return lost;
    };
    const lost = await findLost();
    assert.ok(lost.length > 0 && lost.length < firstOfChunks.length);
    for (const block of firstOfChunks.filter((candidate) => !lost.includes(candidate))) {
      await group.rig.group.write(block * BLOCK_BYTES, group.model.content([group.model.newTag()]));
    }
    assert.deepEqual(await findLost(), lost);
    for (const slot of [0, 1, 4]) {
      await group.rig.group.replace(slot, group.rig.newDrive());
      await group.rig.group.rebuilt();
    }
    assert.deepEqual(await findLost(), lost);
  });
});
