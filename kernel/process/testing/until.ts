import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS_MAX = 30_000;
const LOOK_EVERY_MS = 20;

/** Waits until it is so, and fails when that takes too long. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    if (Date.now() > end) assert.fail(`${what}: it did not come to that`);
    await sleep(LOOK_EVERY_MS);
  }
}
