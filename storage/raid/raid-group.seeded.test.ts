import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { below, pick, randomFrom } from '../../testing/random.ts';
import { rounds, seedCount } from '../../testing/effort.ts';
import type { FaultyDrive } from '../drive/faulty-drive.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { GroupFormat, RaidLevel } from './layout.ts';
import { GroupModel } from './testing/group-model.ts';
import { GroupRig } from './testing/group-rig.ts';

const STRIPES = [4, 16, 32, 64, 128, 256].map((kibibytes) => kibibytes * 1024);
const STEPS = rounds({ quick: 12, long: 60, torture: 60 });

/** A group and a plain model of it live through the same random life; what is read must be what the model says. */
class Life {
  readonly rig: GroupRig;
  readonly model = new GroupModel();
  readonly #random: () => number;
  readonly #away: FaultyDrive[] = [];
  readonly #replaced: FaultyDrive[] = [];
  readonly #blocks: number;

  constructor(rig: GroupRig, random: () => number) {
    this.rig = rig;
    this.#random = random;
    this.#blocks = rig.group.capacityBytes / BLOCK_BYTES;
  }

  async step(): Promise<void> {
    const roll = this.#random();
    if (roll < 0.6) return this.#inputOutput();
    if (roll < 0.66) return this.rig.group.flush();
    if (roll < 0.74) return this.#failOne();
    if (roll < 0.82) return this.#returnOne();
    if (roll < 0.86) return this.#replaceOne();
    if (roll < 0.92) return this.#corruptAndScrub();
    if (roll < 0.96) return this.rig.group.rebuilt();
    return this.#restart();
  }

  async finish(): Promise<void> {
    while (this.#away.length > 0) await this.#returnOne();
    await this.rig.group.rebuilt();
    await this.#readAll();
    assert.deepEqual(await this.rig.group.verify(), []);
    if (this.rig.group.state().members.every(({ state }) => state === 'active')) await this.#restart();
    await this.#readAll();
    await this.rig.group.close();
  }

  /** Several requests at once that do not touch each other, though they may meet in a stripe. */
  async #inputOutput(): Promise<void> {
    const taken: [number, number][] = [];
    const running: Promise<void>[] = [];
    for (let request = 0; request < 8; request += 1) {
      const [block, count] = this.#range();
      if (taken.some(([start, end]) => start < block + count && block < end)) continue;
      taken.push([block, block + count]);
      running.push(this.#request(block, count));
    }
    await Promise.all(running);
  }

  #range(): [number, number] {
    const start = this.#random() < 0.7 ? below(this.#random, 256) : below(this.#random, this.#blocks);
    const most = this.#random() < 0.8 ? 12 : 300;
    return [start, Math.min(1 + below(this.#random, most), this.#blocks - start)];
  }

  async #request(block: number, count: number): Promise<void> {
    const { group } = this.rig;
    const roll = this.#random();
    if (roll < 0.5) {
      const tags = Array.from({ length: count }, () => this.model.newTag());
      await group.write(block * BLOCK_BYTES, this.model.content(tags));
      this.model.set(block, tags);
      return;
    }
    if (roll < 0.62) {
      if (roll < 0.58) await group.discard(block * BLOCK_BYTES, count * BLOCK_BYTES);
      else await group.trim(block * BLOCK_BYTES, count * BLOCK_BYTES);
      this.model.set(block, new Array<number>(count).fill(0));
      return;
    }
    const content = Buffer.alloc(count * BLOCK_BYTES, 1);
    await group.read(block * BLOCK_BYTES, content);
    this.model.check(block, content);
  }

  async #failOne(): Promise<void> {
    const { group, drives } = this.rig;
    const redundancy = group.state().level === 'RAID6' ? 2 : drives.length - 1;
    const missing = group
      .state()
      .members.filter(({ state }) => state !== 'active')
      .map(({ driveId }) => driveId);
    const drive = pick(this.#random, drives);
    const all = new Set([...missing, ...this.#away.map(({ id }) => id), drive.id]);
    if (all.size > redundancy) return;
    drive.fail();
    if (!this.#away.includes(drive)) this.#away.push(drive);
  }

  async #returnOne(): Promise<void> {
    const drive = this.#away.shift();
    if (drive === undefined) return;
    drive.heal();
    const member = this.rig.group.state().members.find(({ driveId }) => driveId === drive.id);
    if (member?.state === 'failed') await this.rig.group.returnDrive(this.rig.hold(drive));
  }

  async #replaceOne(): Promise<void> {
    const { group, drives } = this.rig;
    await group.rebuilt();
    const slot = below(this.#random, drives.length);
    const fresh = this.rig.newDrive();
    await fresh.inner.write(0, Buffer.alloc(3 * 1024 * 1024, 0xee));
    await group.replace(slot, this.rig.hold(fresh));
    const replaced = drives[slot];
    if (replaced !== undefined && this.#away.includes(replaced)) this.#away.splice(this.#away.indexOf(replaced), 1);
    // Until the new one is filled the old one is still needed.
    if (replaced !== undefined) this.#replaced.push(replaced);
    drives[slot] = fresh;
    if (this.#random() < 0.5) await group.rebuilt();
  }

  async #corruptAndScrub(): Promise<void> {
    const { group, drives } = this.rig;
    await group.rebuilt();
    if (this.#away.length > 0 || group.state().status !== 'normal') return;
    await group.flush();
    const drive = pick(this.#random, drives);
    const offset = 2 * 1024 * 1024 + below(this.#random, drive.sizeBytes - 3 * 1024 * 1024);
    await drive.corrupt(offset, 1 + below(this.#random, 20000), this.#random);
    if (this.#random() < 0.5) await this.#readAll();
    await group.scrub();
    await group.scrub();
    assert.equal(group.state().scrub.mismatches, 0);
  }

  async #restart(): Promise<void> {
    const present = this.rig.drives.filter((drive) => !this.#away.includes(drive));
    await this.rig.group.close();
    await this.rig.reopen([...present, ...this.#replaced]);
  }

  async #readAll(): Promise<void> {
    const chunk = 256;
    const touched = new Set(this.model.blocks().map((block) => Math.floor(block / chunk)));
    for (const index of touched) {
      const content = Buffer.alloc(Math.min(chunk, this.#blocks - index * chunk) * BLOCK_BYTES, 1);
      await this.rig.group.read(index * chunk * BLOCK_BYTES, content);
      this.model.check(index * chunk, content);
    }
  }
}

async function live(
  level: RaidLevel,
  members: number,
  stripeBytes: number,
  seed: number,
  format: GroupFormat = 2,
): Promise<void> {
  const random = randomFrom(seed);
  const rig = await GroupRig.create({ level, members, stripeBytes, format, random, driveBytes: 10 * 1024 * 1024 });
  const life = new Life(rig, random);
  try {
    for (let step = 0; step < STEPS; step += 1) await life.step();
    await life.finish();
  } catch (error) {
    throw new Error(`${level} of ${members}, stripes of ${stripeBytes}: seed ${seed} fails`, { cause: error });
  }
}

describe('a group does what a plain array of blocks does, whatever happens to its drives', () => {
  for (const members of [2, 3]) {
    it(`RAID1 of ${members}`, async () => {
      for (let seed = 1; seed <= seedCount(3); seed += 1) await live('RAID1', members, 65536, seed * 100 + members);
    });
  }
  for (const [level, members] of [
    ['RAID1', 2],
    ['RAID6', 5],
  ] as const) {
    it(`${level} of ${members} made by an earlier version`, async () => {
      for (let seed = 1; seed <= seedCount(1); seed += 1) await live(level, members, 16384, seed * 100 + members, 1);
    });
  }
  for (const members of [4, 5, 6, 7, 8, 9, 10]) {
    it(`RAID6 of ${members}`, async () => {
      for (let seed = 1; seed <= seedCount(1); seed += 1) {
        const stripeBytes = STRIPES[(seed + members) % STRIPES.length] as number;
        await live('RAID6', members, stripeBytes, seed * 100 + members);
      }
    });
  }
});
