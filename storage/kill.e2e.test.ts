import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { randomFrom } from '../testing/random.ts';
import { checkPool } from './check/check.ts';
import { Pool } from './pool/pool.ts';
import { RaidGroup } from './raid/index.ts';
import { CrashModel } from './testing/crash-model.ts';
import { openDrives, sceneOf } from './testing/crash-scene.ts';
import { storyOf } from './testing/crash-story.ts';

const RUNS = process.env.GRANARY_TORTURE === '1' ? 200 : 12;
const FIRST_SEED = Number(process.env.GRANARY_SEED ?? Date.now() % 1_000_000);
const KILL_AFTER_MS_MAX = 600;

const writer = path.join(import.meta.dirname, 'testing', 'crash-writer.ts');

/** Lets a process write until it is killed at a random moment; returns what it said it did. */
async function writeUntilKilled(folder: string, seed: number): Promise<{ begun: number; answered: number }> {
  const child = spawn(process.execPath, [writer, folder, String(seed)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const closed = once(child, 'close');
  while (!said.includes('ready') && child.exitCode === null) await setTimeout(5);
  await setTimeout(randomFrom(seed)() * KILL_AFTER_MS_MAX);
  child.kill('SIGKILL');
  await closed;
  assert.equal(child.signalCode, 'SIGKILL', 'the writer ended by itself');
  const last = (word: string): number =>
    Number([...said.matchAll(new RegExp(`${word} (\\d+)\\n`, 'g'))].at(-1)?.[1] ?? 0);
  return { begun: last('begin'), answered: last('answered') };
}

async function killAndVerify(seed: number): Promise<number> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-kill-'));
  const scene = sceneOf(seed);
  const { begun, answered } = await writeUntilKilled(folder, seed);
  const model = new CrashModel();
  let number = 0;
  for (const deed of storyOf(seed, scene.isReduced)) {
    number++;
    if (number <= begun) model.begin(deed);
    if (number <= answered) model.answered(deed);
    if (number >= begun) break;
  }
  const all = await openDrives(folder, scene);
  for (const missing of all.slice(0, scene.missing)) await missing.close();
  const drives = all.slice(scene.missing);
  const file = path.join(folder, 'pool.db');
  const group = await RaidGroup.open({ drives });
  assert.deepEqual((await checkPool({ file, groups: [group] })).findings, [], 'the check finds something');
  const pool = Pool.open({ file, groups: [group] });
  await model.verify(pool);
  await pool.whenIdle();
  await model.verify(pool);
  await pool.close();
  assert.deepEqual((await checkPool({ file, groups: [group] })).findings, [], 'the check finds something later');
  await group.close();
  fs.rmSync(folder, { recursive: true });
  return answered;
}

test(`after ${RUNS} kills of a writing process nothing flushed is lost`, async (context) => {
  context.diagnostic(`first seed ${FIRST_SEED}; GRANARY_SEED=${FIRST_SEED} repeats it`);
  let deeds = 0;
  for (let run = 0; run < RUNS; run++) {
    try {
      deeds += await killAndVerify(FIRST_SEED + run);
    } catch (error) {
      throw new Error(`kill with seed ${FIRST_SEED + run}: ${String(error)}`, { cause: error });
    }
  }
  context.diagnostic(`${deeds} deeds were answered before the kills`);
});
