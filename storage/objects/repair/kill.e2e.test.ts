import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Rig, THREE_COPIES } from '../testing/rig.ts';

const CHILD = new URL('../testing/manager-child.ts', import.meta.url).pathname;

/** Runs the child for a while and kills it; resolves with the keys that it said are safe. */
async function runAndKill(folder: string, from: number, drives: number, ms: number): Promise<string[]> {
  const safe: string[] = [];
  const child = fork(CHILD, [folder, String(from), String(drives)], { stdio: 'inherit' });
  child.on('message', (keys) => safe.push(...(keys as string[])));
  await once(child, 'message');
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGKILL');
  await once(child, 'exit');
  return safe;
}

test('killed at any moment of an expansion or a repair, it goes on and nothing that was safe is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'granary-kill-'));
  const safe: string[] = [];
  try {
    for (let round = 0; round < 3; round += 1) {
      const drives = 4 + round;
      safe.push(...(await runAndKill(folder, round * 1_000_000, drives, 50 + Math.random() * 500)));
      const drive = join(folder, `drive-${1 + Math.floor(Math.random() * drives)}`);
      if (round % 2 === 0) continue;
      // One drive wiped while the process is down: there are two more copies, as far as the last repair came.
      const rest = await Rig.open(folder, THREE_COPIES, drives);
      await rest.until(() => rest.isAtRest(), 'rest before the next loss');
      await rest.endWell();
      await rm(drive, { recursive: true });
      await mkdir(drive);
    }
    const rig = await Rig.open(folder, THREE_COPIES, 7);
    await rig.until(() => rig.isAtRest(), 'the end of all repairs');
    for (const key of safe) {
      const found = await rig.get(key);
      assert.equal(found?.toString(), `${key} `.repeat(200), key);
    }
    assert.ok(safe.length > 30);
    await rig.endWell();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
