import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { below, pick, randomFrom } from '../../testing/random.ts';
import { seedCount } from '../../testing/effort.ts';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { GroupFormat, RaidLevel } from './layout.ts';
import { GroupModel } from './testing/group-model.ts';
import { GroupRig } from './testing/group-rig.ts';

interface Story {
  readonly level: RaidLevel;
  readonly members: number;
  readonly stripeBytes: number;
  readonly format?: GroupFormat;
  /** How many drives fail before the power does. */
  readonly failed: number;
  /** How many drives that were there at the power cut are missing afterwards. */
  readonly lostWithPower?: number;
  readonly rebuilds?: boolean;
}

const HOT_BLOCKS = 160;

/** Writes, flushes and cuts the power, over and over; after each cut the group is read back and must keep its word. */
class PowerStory {
  readonly #story: Story;
  readonly #random: () => number;
  readonly #model = new GroupModel();
  readonly #rig: GroupRig;

  constructor(story: Story, random: () => number, rig: GroupRig) {
    this.#story = story;
    this.#random = random;
    this.#rig = rig;
  }

  async run(): Promise<void> {
    const rig = this.#rig;
    for (let index = 0; index < this.#story.failed; index += 1) await this.#failOne(index);
    for (let cut = 0; cut < 3; cut += 1) {
      for (const drive of rig.drives) drive.loseUnflushed();
      const rounds = below(this.#random, 4);
      for (let round = 0; round < rounds; round += 1) await this.#writeAndFlush();
      if (this.#story.rebuilds === true)
        await rig.group.replace(below(this.#random, rig.drives.length), rig.hold(this.#fresh()));
      await this.#cutWhileWriting();
      await this.#reopen();
      await this.#readBack();
    }
  }

  #fresh() {
    const drive = this.#rig.newDrive();
    this.#rig.spares.push(drive);
    drive.loseUnflushed();
    return drive;
  }

  async #failOne(index: number): Promise<void> {
    this.#rig.drives[index]?.fail();
    await this.#rig.group.flush();
    const { status } = this.#rig.group.state();
    assert.equal(status, 'degraded');
  }

  async #writeAndFlush(): Promise<void> {
    await Promise.all(Array.from({ length: 6 }, () => this.#change()));
    await this.#rig.group.flush();
    this.#model.flushed();
  }

  /** Ranges of one round may overlap only if they are the same to the model; so each keeps to its own blocks. */
  readonly #busy = new Set<number>();

  async #change(): Promise<void> {
    const block = below(this.#random, HOT_BLOCKS);
    const count = 1 + below(this.#random, this.#random() < 0.8 ? 4 : 60);
    const blocks = Array.from({ length: count }, (_, index) => block + index);
    if (blocks.some((other) => this.#busy.has(other))) return;
    for (const other of blocks) this.#busy.add(other);
    const isDiscard = this.#random() < 0.15;
    const tags = blocks.map(() => (isDiscard ? 0 : this.#model.newTag()));
    this.#model.add(block, tags);
    const { group } = this.#rig;
    try {
      if (isDiscard && count > 16) await group.trim(block * BLOCK_BYTES, count * BLOCK_BYTES);
      else if (isDiscard) await group.discard(block * BLOCK_BYTES, count * BLOCK_BYTES);
      else await group.write(block * BLOCK_BYTES, this.#model.content(tags));
    } finally {
      for (const other of blocks) this.#busy.delete(other);
    }
  }

  async #cutWhileWriting(): Promise<void> {
    const running = Array.from({ length: 6 }, () => this.#change().catch(() => undefined));
    const turns = below(this.#random, 12);
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await this.#rig.powerCut(this.#random);
    await Promise.all(running);
    await this.#rig.group.close();
  }

  async #reopen(): Promise<void> {
    const rig = this.#rig;
    const { failed, lostWithPower = 0 } = this.#story;
    const missing = new Set(rig.drives.slice(0, failed));
    for (let index = 0; index < lostWithPower; index += 1) missing.add(pick(this.#random, rig.drives.slice(failed)));
    await rig.reopen([...rig.drives, ...rig.spares].filter((drive) => !missing.has(drive)));
    assert.notEqual(rig.group.state().status, 'failed');
  }

  async #readBack(): Promise<void> {
    const { group } = this.#rig;
    const lost = await this.#readBlocks(true);
    await group.rebuilt();
    assert.deepEqual(await this.#readBlocks(false), lost, 'what is lost stays lost, and nothing else is');
    const findings = await group.verify();
    const mayLose = this.#story.lostWithPower !== undefined && this.#story.level === 'RAID6';
    if (!mayLose) assert.deepEqual(lost, []);
    assert.deepEqual(
      findings.filter(({ kind }) => !mayLose || kind !== 'lost'),
      [],
    );
  }

  async #readBlocks(keep: boolean): Promise<number[]> {
    const lost: number[] = [];
    const block = Buffer.alloc(BLOCK_BYTES);
    for (const index of this.#model.blocks()) {
      try {
        await this.#rig.group.read(index * BLOCK_BYTES, block);
      } catch (error) {
        assert.ok(error instanceof StorageError && error.code === 'unreadable', String(error));
        lost.push(index);
        if (keep) this.#model.lose(index);
        continue;
      }
      this.#model.check(index, block, keep);
    }
    return lost;
  }
}

async function tell(story: Story, seeds: number): Promise<void> {
  for (let seed = 1; seed <= seedCount(seeds); seed += 1) {
    const random = randomFrom(seed * 7919 + story.members);
    const rig = await GroupRig.create({ ...story, random, driveBytes: 6 * 1024 * 1024 });
    try {
      await new PowerStory(story, random, rig).run();
    } catch (error) {
      throw new Error(`${JSON.stringify(story)}: seed ${seed} fails`, { cause: error });
    }
  }
}

describe('what was flushed is there after a power cut, and nothing was made up', () => {
  it('on a mirror of two', () => tell({ level: 'RAID1', members: 2, stripeBytes: 65536, failed: 0 }, 3));
  it('on a mirror of three', () => tell({ level: 'RAID1', members: 3, stripeBytes: 65536, failed: 0 }, 2));
  it('on a mirror with one drive failed', () => tell({ level: 'RAID1', members: 2, stripeBytes: 65536, failed: 1 }, 3));
  it('on a mirror that is being filled', () =>
    tell({ level: 'RAID1', members: 2, stripeBytes: 65536, failed: 0, rebuilds: true }, 2));
  it('on parity with small stripes', () => tell({ level: 'RAID6', members: 5, stripeBytes: 4096, failed: 0 }, 2));
  it('on parity with large stripes', () => tell({ level: 'RAID6', members: 4, stripeBytes: 262144, failed: 0 }, 2));
  it('on a mirror made by an earlier version', () =>
    tell({ level: 'RAID1', members: 2, stripeBytes: 65536, failed: 0, format: 1 }, 1));
  it('on parity made by an earlier version', () =>
    tell({ level: 'RAID6', members: 5, stripeBytes: 16384, failed: 0, format: 1 }, 1));
  it('on parity with one drive failed', () => tell({ level: 'RAID6', members: 5, stripeBytes: 16384, failed: 1 }, 3));
  it('on parity with two drives failed', () => tell({ level: 'RAID6', members: 6, stripeBytes: 16384, failed: 2 }, 3));
  it('on parity that is being filled', () =>
    tell({ level: 'RAID6', members: 5, stripeBytes: 16384, failed: 0, rebuilds: true }, 2));
  it('on parity that is being filled while a drive is missing', () =>
    tell({ level: 'RAID6', members: 6, stripeBytes: 4096, failed: 1, rebuilds: true }, 2));
  it('on a mirror when a drive goes with the power', () =>
    tell({ level: 'RAID1', members: 3, stripeBytes: 65536, failed: 0, lostWithPower: 1 }, 2));
  it('on parity when a drive goes with the power, except where a write was cut off', () =>
    tell({ level: 'RAID6', members: 5, stripeBytes: 16384, failed: 0, lostWithPower: 1 }, 2));
});
