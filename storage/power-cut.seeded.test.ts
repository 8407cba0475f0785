import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Database } from '@granary/kernel/sqlite';
import { randomFrom } from '../testing/random.ts';
import { rounds } from '../testing/effort.ts';
import { checkPool } from './check/check.ts';
import { FaultyDrive } from './drive/faulty-drive.ts';
import { Pool } from './pool/pool.ts';
import { RaidGroup } from './raid/index.ts';
import { CrashModel } from './testing/crash-model.ts';
import { createGroup, openDrives, sceneOf } from './testing/crash-scene.ts';
import { type Deed, perform, storyOf } from './testing/crash-story.ts';

const RUNS = rounds({ quick: 2, long: 8, torture: 200 });
const FIRST_SEED = Number(process.env.GRANARY_SEED ?? Date.now() % 1_000_000);

/**
 * Runs a story until the power goes at a random moment, in the middle of whatever is under way. Each drive keeps any
 * part of what was not flushed; the books keep what was synced, and perhaps the transaction after that.
 */
async function cutPower(seed: number): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-power-'));
  const scene = sceneOf(seed);
  const random = randomFrom(seed + 99);
  const drives = await openDrives(folder, scene);
  const faulty = drives.map((drive) => new FaultyDrive(drive));
  const books = new SyncedBooks(folder);
  const group = await createGroup(scene, faulty);
  const setup = { id: 'pool', mode: 'simple', onError: () => undefined } as const;
  const pool = await Pool.create({ ...setup, file: books.file, groups: [group] });
  for (const drive of faulty) drive.loseUnflushed();
  for (const drive of faulty.slice(0, scene.missing)) drive.fail();
  const model = new CrashModel();
  const power = { isOn: true };
  const cutAfter = 5 + Math.floor(random() * 120);
  let deeds = 0;
  const cut = async (): Promise<void> => {
    power.isOn = false;
    books.powerCut(random() < 0.5);
    await Promise.all(faulty.map((drive) => drive.powerCut(random)));
  };
  let cutting: Promise<void> | undefined;
  for (const deed of storyOf(seed, scene.isReduced)) {
    model.begin(deed);
    if (++deeds === cutAfter) setTimeout(() => void (cutting = cut()), random() * 4);
    const answered = await tryToPerform(pool, deed, scene.options, deeds);
    if (!power.isOn) break;
    assert(answered, `deed ${deeds} failed although there was power`);
    model.answered(deed);
  }
  await cutting;
  books.release();
  for (const missing of drives.slice(0, scene.missing)) await missing.close();
  await verifyAfterwards(folder, books.afterwards, drives.slice(scene.missing), model);
  fs.rmSync(folder, { recursive: true });
}

async function tryToPerform(pool: Pool, deed: Deed, options: object, now: number): Promise<boolean> {
  try {
    await perform(pool, deed, options, now);
    return true;
  } catch (error) {
    return String(error).includes('pool-full');
  }
}

async function verifyAfterwards(
  folder: string,
  file: string,
  drives: readonly ConstructorParameters<typeof FaultyDrive>[0][],
  model: CrashModel,
): Promise<void> {
  const group = await RaidGroup.open({ drives });
  const report = await checkPool({ file, groups: [group] });
  assert.deepEqual(report.findings, [], 'the check finds something');
  const pool = Pool.open({ file, groups: [group], onError: (error) => assert.fail(String(error)) });
  await model.verify(pool);
  await pool.whenIdle();
  await model.verify(pool);
  await pool.close();
  const after = await checkPool({ file, groups: [group] });
  assert.deepEqual(after.findings, [], `the check finds something after the pool was used (${folder})`);
  await group.close();
}

/** Keeps a copy of the books as they were when they were last synced. */
class SyncedBooks {
  readonly file: string;
  readonly afterwards: string;
  readonly #synced: string;
  readonly #sync = Database.prototype.sync.bind(undefined);
  #isCut = false;

  constructor(folder: string) {
    this.file = path.join(folder, 'pool.db');
    this.#synced = path.join(folder, 'synced.db');
    this.afterwards = path.join(folder, 'afterwards.db');
    const original = Object.getOwnPropertyDescriptor(Database.prototype, 'sync')?.value as Database['sync'];
    const copy = (): void => {
      if (!this.#isCut) copyBooks(this.file, this.#synced);
    };
    Database.prototype.sync = async function sync(this: Database) {
      await original.call(this);
      copy();
    };
    this.#sync = original;
  }

  powerCut(losesUnsynced: boolean): void {
    this.#isCut = true;
    copyBooks(losesUnsynced && fs.existsSync(this.#synced) ? this.#synced : this.file, this.afterwards);
  }

  release(): void {
    Database.prototype.sync = this.#sync;
  }
}

function copyBooks(from: string, to: string): void {
  fs.copyFileSync(from, to);
  if (fs.existsSync(`${from}-wal`)) fs.copyFileSync(`${from}-wal`, `${to}-wal`);
  else fs.rmSync(`${to}-wal`, { force: true });
}

test(`after ${RUNS} power cuts every flushed write and every snapshot is there`, async (context) => {
  context.diagnostic(`first seed ${FIRST_SEED}; GRANARY_SEED=${FIRST_SEED} repeats it`);
  for (let run = 0; run < RUNS; run++) {
    try {
      await cutPower(FIRST_SEED + run);
    } catch (error) {
      throw new Error(`power cut with seed ${FIRST_SEED + run}: ${String(error)}`, { cause: error });
    }
  }
});
