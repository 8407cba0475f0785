import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../testing/random.ts';
import { rounds } from '../testing/effort.ts';
import { checkPool } from './check/check.ts';
import { Pool } from './pool/pool.ts';
import { FaultyDrive } from './drive/faulty-drive.ts';
import { MemoryDrive } from './drive/testing/memory-drive.ts';
import { RaidGroup } from './raid/index.ts';
import { PoolModel, type Step, STEP_KINDS } from './testing/pool-model.ts';

const STEPS = rounds({ quick: 250, long: 2_000, torture: 10_000 });
const MIB = 1024 * 1024;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...STEP_KINDS, 'special', 'special'),
  which: fc.nat({ max: 1000 }),
  at: fc.nat({ max: 100_000 }),
  size: fc.nat({ max: 1000 }),
});

interface Rig {
  readonly group: RaidGroup;
  readonly drives: FaultyDrive[];
  newDrive(): FaultyDrive;
}

const SPEED = { minimumBytesPerSecond: 2 ** 40, maximumBytesPerSecond: 2 ** 40 };

async function createRig(id: string, size: number): Promise<Rig> {
  const isMirror = size % 2 === 0;
  const bytes = (isMirror ? 48 : 24) * MIB;
  const random = randomFrom(size);
  const drives: FaultyDrive[] = [];
  const newDrive = (): FaultyDrive => {
    drives.push(new FaultyDrive(new MemoryDrive(`${id}-${drives.length}`, bytes, random)));
    return drives.at(-1)!;
  };
  const count = isMirror ? 2 + (size % 3 === 0 ? 1 : 0) : 4 + (size % 3);
  const group = await RaidGroup.create({
    id,
    level: isMirror ? 'RAID1' : 'RAID6',
    members: Array.from({ length: count }, newDrive),
    stripeBytes: [4, 16, 64][size % 3]! * 1024,
    resyncSpeed: SPEED,
  });
  return { group, drives, newDrive };
}

/** Two pools on RAID groups of drives in memory, and everything that can happen to them. */
class World {
  readonly #folder: string;
  readonly #rigs: { rig: Rig; pool: 'first' | 'second' }[] = [];
  readonly model: PoolModel;
  #names = 1;

  static async create(folder: string): Promise<World> {
    const world = new World(folder, await openPool(folder, 'first'), await openPool(folder, 'second'));
    await world.#addGroup('first', 0);
    await world.#addGroup('first', 1);
    await world.#addGroup('second', 3);
    return world;
  }

  private constructor(folder: string, first: Pool, second: Pool) {
    this.#folder = folder;
    const mixes = [
      {},
      {},
      { options: { compression: true, deduplication: false } },
      { options: { compression: true, deduplication: true } },
      { key: Buffer.from(Array.from({ length: 64 }, (_, index) => index)) },
    ];
    this.model = new PoolModel(first, (which) => mixes[which % mixes.length] ?? {}, second);
  }

  async special({ which, at, size }: Step): Promise<void> {
    const chosen = this.#rigs[at % this.#rigs.length];
    assert(chosen);
    const { rig, pool } = chosen;
    const { members, status } = rig.group.state();
    // A drive that fails is not detected before a request reaches it.
    const broken = new Set(rig.drives.filter((drive) => drive.isFailed).map(({ id }) => id));
    const missing = members.filter(({ state, driveId }) => state !== 'active' || broken.has(driveId));
    switch (which % 7) {
      case 0:
        if (this.#rigs.length < 5) await this.#addGroup(pool, size);
        return;
      case 1:
        return this.#removeGroup(rig, pool);
      case 2:
        // Only what it can bear: more is tested where groups are tested.
        if (missing.length < (members.length > 3 ? 2 : 1)) rig.drives[size % rig.drives.length]?.fail();
        return;
      case 3:
      case 4: {
        const failed = members.find(({ state }) => state === 'failed');
        if (failed) await rig.group.replace(failed.slot, rig.newDrive());
        return;
      }
      case 5:
        if (status === 'normal') await rig.group.scrub();
        return;
      default:
        await this.#reopen(pool);
    }
  }

  async finish(): Promise<void> {
    await this.model.pool.whenIdle();
    await this.model.other?.whenIdle();
    await this.model.verify();
    for (const name of ['first', 'second'] as const) {
      await this.#poolOf(name).close();
      const groups = this.#groupsOf(name);
      const { findings } = await checkPool({ file: fileOf(this.#folder, name), groups });
      assert.deepEqual(findings, []);
    }
  }

  #groupsOf(name: 'first' | 'second') {
    return this.#rigs.filter(({ pool }) => pool === name).map(({ rig }) => rig.group);
  }

  #poolOf(name: 'first' | 'second'): Pool {
    const pool = name === 'first' ? this.model.pool : this.model.other;
    assert(pool);
    return pool;
  }

  async #addGroup(pool: 'first' | 'second', size: number): Promise<void> {
    const rig = await createRig(`group-${this.#names++}`, size);
    this.#rigs.push({ rig, pool });
    await this.#poolOf(pool).addGroup(rig.group);
  }

  async #removeGroup(rig: Rig, pool: 'first' | 'second'): Promise<void> {
    const removed = await this.#poolOf(pool)
      .removeGroup(rig.group.id)
      .then(
        () => true,
        () => false,
      );
    if (removed)
      this.#rigs.splice(
        this.#rigs.findIndex((each) => each.rig === rig),
        1,
      );
  }

  async #reopen(name: 'first' | 'second'): Promise<void> {
    const keys = this.#poolOf(name)
      .volumes.list()
      .filter(({ encrypted }) => encrypted);
    await this.#poolOf(name).close();
    const pool = Pool.open({ file: fileOf(this.#folder, name), groups: this.#groupsOf(name), onError });
    for (const { id } of keys) pool.volumes.unlock(id, Buffer.from(Array.from({ length: 64 }, (_, index) => index)));
    if (name === 'first') this.model.pool = pool;
    else this.model.other = pool;
  }
}

function onError(error: unknown): void {
  throw error;
}

function fileOf(folder: string, name: string): string {
  return path.join(folder, `${name}.db`);
}

function openPool(folder: string, id: string): Promise<Pool> {
  return Pool.create({ file: fileOf(folder, id), id, mode: 'stripe', groups: [], onError });
}

async function tell(steps: readonly Step[]): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-story-'));
  try {
    const world = await World.create(folder);
    for (const each of steps) await world.model.run(each, (special) => world.special(special));
    await world.finish();
  } finally {
    await fs.rm(folder, { recursive: true });
  }
}

test('short stories of writes, snapshots, clones, moves and broken drives equal their model', async () => {
  const stories = fc.array(step, { maxLength: 250, size: 'max' });
  await fc.assert(fc.asyncProperty(stories, tell), { numRuns: rounds({ quick: 2, long: 4, torture: 100 }) });
});

test(`a story of ${STEPS} operations equals its model`, async () => {
  const story = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' });
  await fc.assert(fc.asyncProperty(story, tell), { numRuns: rounds({ quick: 1, long: 1, torture: 10 }) });
});
