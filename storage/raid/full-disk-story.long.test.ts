import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { below, pick, randomFrom } from '../../testing/random.ts';
import { seedCount } from '../../testing/effort.ts';
import type { FaultyDrive } from '../drive/faulty-drive.ts';
import { isNoSpace } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { RaidLevel } from './layout.ts';
import { GroupModel } from './testing/group-model.ts';
import { GroupRig } from './testing/group-rig.ts';

const STEPS = 80;
const WAITS_MAX = 500;

/** A group on disks that are full at times, and a model of it. A write that is refused leaves each block old or new. */
class FullLife {
  readonly rig: GroupRig;
  readonly model = new GroupModel();
  refusals = 0;
  readonly #random: () => number;
  readonly #blocks: number;
  #away: FaultyDrive | undefined;
  #isFull = false;

  constructor(rig: GroupRig, random: () => number) {
    this.rig = rig;
    this.#random = random;
    this.#blocks = rig.group.capacityBytes / BLOCK_BYTES;
  }

  async step(): Promise<void> {
    const roll = this.#random();
    if (roll < 0.6) return this.#inputOutput();
    if (roll < 0.7) return this.#orRefused(this.rig.group.flush());
    if (roll < 0.8) {
      this.#fill();
      return;
    }
    if (roll < 0.9) {
      this.#makeRoom();
      return;
    }
    if (this.#isFull) return this.#readAll();
    if (roll < 0.93) return this.#crash();
    return this.#away === undefined ? this.#failOne() : this.#returnOne();
  }

  async finish(): Promise<void> {
    this.#makeRoom();
    await this.#readAll();
    await this.#returnOne();
    await this.#filled();
    assert.equal(this.rig.group.state().status, 'normal');
    await this.#readAll();
    await this.rig.group.flush();
    assert.deepEqual(await this.rig.group.verify(), []);
    await this.rig.group.close();
    await this.rig.reopen();
    assert.equal(this.rig.group.state().dirtyRegions, 0);
    await this.#readAll();
    await this.rig.group.close();
  }

  /** With room: until nothing is left to be done, now or after a pause. */
  async #filled(): Promise<void> {
    const isFilling = () =>
      this.rig.group.state().members.some(({ state, replacedBy }) => state === 'rebuilding' || replacedBy);
    for (let wait = 0; wait === 0 || (isFilling() && wait < WAITS_MAX); wait += 1) {
      await sleep(5);
      await this.rig.group.rebuilt();
    }
  }

  async #inputOutput(): Promise<void> {
    const taken: [number, number][] = [];
    const running: Promise<void>[] = [];
    for (let request = 0; request < 6; request += 1) {
      const start = this.#random() < 0.7 ? below(this.#random, 256) : below(this.#random, this.#blocks);
      const count = Math.min(1 + below(this.#random, this.#random() < 0.8 ? 12 : 300), this.#blocks - start);
      if (taken.some(([first, end]) => first < start + count && start < end)) continue;
      taken.push([start, start + count]);
      running.push(this.#request(start, count));
    }
    await Promise.all(running);
  }

  async #request(block: number, count: number): Promise<void> {
    const { group } = this.rig;
    const roll = this.#random();
    if (roll >= 0.6) return this.#read(block, count);
    const tags = Array.from({ length: count }, () => (roll < 0.5 ? this.model.newTag() : 0));
    try {
      if (roll < 0.5) await group.write(block * BLOCK_BYTES, this.model.content(tags));
      else if (roll < 0.56) await group.discard(block * BLOCK_BYTES, count * BLOCK_BYTES);
      else await group.trim(block * BLOCK_BYTES, count * BLOCK_BYTES);
      this.model.set(block, tags);
    } catch (error) {
      this.#expectRefusal(error);
      this.model.add(block, tags);
    }
  }

  /** Reads are never refused, and what was read once stays. */
  async #read(block: number, count: number): Promise<void> {
    const content = Buffer.alloc(count * BLOCK_BYTES, 1);
    await this.rig.group.read(block * BLOCK_BYTES, content);
    this.model.check(block, content, true);
  }

  async #readAll(): Promise<void> {
    const chunk = 256;
    const touched = new Set(this.model.blocks().map((block) => Math.floor(block / chunk)));
    for (const index of touched) await this.#read(index * chunk, Math.min(chunk, this.#blocks - index * chunk));
  }

  #fill(): void {
    this.#isFull = true;
    const drives = this.#random() < 0.5 ? this.rig.drives : [pick(this.#random, this.rig.drives)];
    for (const drive of drives) drive.refuseSpace(below(this.#random, 40) * BLOCK_BYTES);
  }

  #makeRoom(): void {
    this.#isFull = false;
    for (const drive of this.rig.drives) drive.giveSpace();
  }

  async #failOne(): Promise<void> {
    // What was refused is put in order first: a drive that fails in between is one fault too many.
    await this.#readAll();
    this.#away = pick(this.#random, this.rig.drives);
    if (this.rig.group.state().status !== 'normal') this.#away = undefined;
    this.#away?.fail();
    await this.#inputOutput();
    await this.rig.group.flush();
  }

  async #returnOne(): Promise<void> {
    const drive = this.#away;
    this.#away = undefined;
    drive?.heal();
    const member = this.rig.group.state().members.find(({ driveId }) => driveId === drive?.id);
    if (drive !== undefined && member?.state === 'failed') await this.rig.group.returnDrive(this.rig.hold(drive));
  }

  /** The process dies and comes back; what was refused before is still old or new. */
  async #crash(): Promise<void> {
    await this.rig.group.flush();
    await this.#readAll();
    await this.#filled();
    await this.rig.reopen(this.rig.drives.filter((drive) => drive !== this.#away));
  }

  async #orRefused(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => this.#expectRefusal(error));
  }

  #expectRefusal(error: unknown): void {
    if (!isNoSpace(error) || !this.#isFull) throw error;
    this.refusals += 1;
  }
}

async function live(level: RaidLevel, members: number, seed: number): Promise<number> {
  const random = randomFrom(seed);
  const rig = await GroupRig.create({ level, members, random, stripeBytes: 16384, noSpaceRetryMs: 2 });
  const life = new FullLife(rig, random);
  try {
    for (let step = 0; step < STEPS; step += 1) await life.step();
    await life.finish();
    assert.equal(rig.count('group-failed') + rig.count('block-lost'), 0);
    assert.ok(rig.count('drive-failed') <= rig.count('drive-returned'));
    return life.refusals;
  } catch (error) {
    throw new Error(`${level} of ${members}: seed ${seed} fails`, { cause: error });
  }
}

describe('a group whose disks are full at times refuses writes and loses nothing', () => {
  for (const [level, members] of [
    ['RAID1', 2],
    ['RAID1', 3],
    ['RAID6', 4],
    ['RAID6', 6],
  ] as const) {
    it(`${level} of ${members}`, async () => {
      let refusals = 0;
      for (let seed = 1; seed <= seedCount(2); seed += 1) refusals += await live(level, members, seed * 100 + members);
      assert.ok(refusals > 5, `${refusals} refusals`);
    });
  }
});
