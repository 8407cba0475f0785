import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS_MAX = 20_000;

/** Waits until it is so, and fails when that takes too long. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_MS_MAX; Date.now() < end; await sleep(20)) if (await isSo()) return;
  assert.fail(`${what}: it did not come to that`);
}
