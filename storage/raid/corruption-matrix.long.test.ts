import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FaultyDrive } from '../drive/faulty-drive.ts';
import { StorageError } from '../errors.ts';
import { rounds } from '../../testing/effort.ts';
import { BLOCK_BYTES } from '../units.ts';
import { layOut } from './layout.ts';
import type { RaidLevel } from './layout.ts';
import { AREAS, DAMAGES, EXTENTS, inflict, snapshotOf } from './testing/damage.ts';
import type { DamageCase } from './testing/damage.ts';
import { GroupModel } from './testing/group-model.ts';
import { GroupRig } from './testing/group-rig.ts';

/**
 * One drive is damaged, in every region of it and in every way, and then something happens: what is read afterwards
 * must be what was flushed. `docs/storage.md` has the table. The slice of `npm run test:long` takes every area, damage
 * and moment at least once; `npm run torture` runs all of them; corruption.long.test.ts has the rules one by one.
 */
const MOMENTS = ['read', 'scrub', 'restart', 'kill', 'rebuild'] as const;
type Moment = (typeof MOMENTS)[number];

const GROUPS = [
  { level: 'RAID1', members: 2 },
  { level: 'RAID1', members: 3 },
  { level: 'RAID6', members: 4 },
  { level: 'RAID6', members: 6 },
] as const;

interface MatrixCase extends DamageCase {
  readonly level: RaidLevel;
  readonly members: number;
  readonly moment: Moment;
}

const STRIPE_BYTES = 16 * 1024;
/** Blocks from `first` on, written in the given round. What lies between was never written. */
const WRITES = [
  { round: 1, first: 0, count: 300 },
  { round: 1, first: 1000, count: 40 },
  { round: 2, first: 100, count: 130 },
  { round: 2, first: 1200, count: 20 },
  { round: 3, first: 150, count: 60 },
  { round: 3, first: 280, count: 60 },
] as const;
const DISCARDED = { first: 20, count: 30 };
const READ_BLOCKS = 1300;
const READ_AT_ONCE = 20;

/** A group with some history, and what is remembered of it. */
class Scene {
  readonly rig: GroupRig;
  readonly model = new GroupModel();
  readonly #case: MatrixCase;
  readonly #before = { 'rolled back': snapshotOf([]), 'rolled back over a restart': snapshotOf([]) };

  /** A journal is in use only while a drive is missing. */
  readonly #absent: FaultyDrive | undefined;

  private constructor(rig: GroupRig, matrixCase: MatrixCase) {
    this.rig = rig;
    this.#case = matrixCase;
    if (matrixCase.area === 'journal') this.#absent = rig.drives[(matrixCase.slot + 2) % rig.drives.length];
  }

  static async prepare(matrixCase: MatrixCase): Promise<Scene> {
    const { level, members } = matrixCase;
    const rig = await GroupRig.create({ level, members, stripeBytes: STRIPE_BYTES, driveBytes: 9 * 1024 * 1024 });
    const scene = new Scene(rig, matrixCase);
    await scene.#write(1);
    scene.#before['rolled back over a restart'] = snapshotOf(rig.drives);
    await rig.group.close();
    await rig.reopen();
    await scene.#write(2);
    scene.#before['rolled back'] = snapshotOf(rig.drives);
    if (scene.#absent !== undefined) await scene.#failAbsent();
    await scene.#write(3);
    await rig.group.discard(DISCARDED.first * BLOCK_BYTES, DISCARDED.count * BLOCK_BYTES);
    scene.model.set(DISCARDED.first, new Array<number>(DISCARDED.count).fill(0));
    await rig.group.flush();
    return scene;
  }

  async #failAbsent(): Promise<void> {
    this.#absent?.fail();
    await this.rig.group.flush();
  }

  /** The drive that was missing is there again. */
  async complete(): Promise<void> {
    if (this.#absent === undefined) return;
    this.#absent.heal();
    await this.rig.group.returnDrive(this.rig.hold(this.#absent));
  }

  async #write(round: number): Promise<void> {
    for (const { first, count } of WRITES.filter((write) => write.round === round)) {
      const tags = Array.from({ length: count }, () => this.model.newTag());
      await this.rig.group.write(first * BLOCK_BYTES, this.model.content(tags));
      this.model.set(first, tags);
      await this.rig.group.flush();
    }
  }

  /** Damages a drive and lets something happen. */
  async run(): Promise<void> {
    const { moment } = this.#case;
    const { rig } = this;
    if (moment === 'restart') await rig.group.close();
    this.#inflict();
    const present = rig.drives.filter((drive) => drive !== this.#absent);
    if (moment === 'restart' || moment === 'kill') await rig.reopen(present);
    if (moment === 'scrub') await rig.group.scrub();
    if (moment === 'rebuild') await this.#rebuildNeighbour();
  }

  #inflict(): void {
    const { level, members } = this.#case;
    const memberBytes = this.rig.drives[0]?.sizeBytes ?? 0;
    const layout = layOut({ level, stripeBytes: STRIPE_BYTES, memberBytes, memberCount: members });
    inflict(this.rig.drives, layout, this.#case, this.#before);
  }

  async #rebuildNeighbour(): Promise<void> {
    const { rig } = this;
    const slot = (this.#case.slot + 1) % rig.drives.length;
    const fresh = rig.newDrive();
    rig.drives[slot]?.fail();
    await rig.group.flush();
    await rig.group.replace(slot, rig.hold(fresh));
    rig.drives[slot] = fresh;
    await rig.group.rebuilt();
  }

  /** Returns the blocks that cannot be read; the others are right. */
  async read(): Promise<number[]> {
    const lost: number[] = [];
    for (let block = 0; block < READ_BLOCKS; block += READ_AT_ONCE) {
      if (await this.#canRead(block, READ_AT_ONCE)) continue;
      for (let single = block; single < block + READ_AT_ONCE; single += 1) {
        if (!(await this.#canRead(single, 1))) lost.push(single);
      }
    }
    return lost;
  }

  async #canRead(block: number, count: number): Promise<boolean> {
    const into = Buffer.alloc(count * BLOCK_BYTES, 0xaa);
    try {
      await this.rig.group.read(block * BLOCK_BYTES, into);
    } catch (error) {
      assert.ok(error instanceof StorageError && error.code === 'unreadable', String(error));
      return false;
    }
    this.model.check(block, into);
    return true;
  }
}

async function check(matrixCase: MatrixCase): Promise<void> {
  const scene = await Scene.prepare(matrixCase);
  const { rig } = scene;
  await scene.run();
  const lost = await scene.read();
  // A mirror of two that loses its other drive has only the damaged one left.
  const isAlone = matrixCase.moment === 'rebuild' && matrixCase.level === 'RAID1' && matrixCase.members === 2;
  if (!isAlone) assert.deepEqual(lost, []);
  await scene.complete();
  await rig.group.rebuilt();
  await rig.group.scrub();
  await rig.group.rebuilt();
  const second = await rig.group.scrub();
  assert.deepEqual(
    [second.mismatches - second.lost, second.repaired],
    [0, 0],
    'a second scrub finds nothing to repair',
  );
  assert.deepEqual(await scene.read(), lost);
  await rig.group.close();
  await rig.reopen();
  assert.equal(rig.group.state().status, 'normal');
  assert.deepEqual(await scene.read(), lost, 'what reads right is right after a restart');
  const findings = await rig.group.verify();
  assert.deepEqual(
    findings.filter(({ kind }) => kind !== 'lost'),
    [],
  );
  await rig.group.close();
}

function* allCases(): Generator<MatrixCase> {
  let count = 0;
  for (const { level, members } of GROUPS) {
    for (const area of AREAS) {
      if (area === 'journal' && level === 'RAID1') continue;
      for (const damage of DAMAGES) {
        for (const extent of EXTENTS) {
          for (const moment of MOMENTS) {
            count += 1;
            yield { level, members, area, damage, extent, moment, slot: count % members };
          }
        }
      }
    }
  }
}

const ONLY = process.env['GRANARY_MATRIX'];
/** Odd, so that a slice goes through all values of every dimension. */
const SLICE = ONLY === undefined ? rounds({ quick: 37, long: 37, torture: 1 }) : 1;

describe('one damaged drive never gives wrong bytes', () => {
  const cases = [...allCases()].filter((_, index) => index % SLICE === 0);
  for (const matrixCase of cases) {
    const { level, members, area, damage, extent, moment, slot } = matrixCase;
    const name = `${level} of ${members}, drive ${slot}: ${area} ${damage}, ${extent}, before a ${moment}`;
    if (ONLY !== undefined && !name.includes(ONLY)) continue;
    it(name, () => check(matrixCase));
  }
});
