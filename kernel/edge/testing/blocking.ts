import assert from 'node:assert/strict';

/** Nothing a stranger sends may hold the event loop for this long. */
const BLOCK_MS_MAX = 50;
const TRIES = 5;

/**
 * Holds the processor time that work takes in this thread against the limit: more than all of it together no part can
 * block. Others on the machine make it look slower, never faster, so the best of a few tries counts.
 */
export async function assertBrief(what: string, work: () => unknown): Promise<void> {
  let least = Infinity;
  for (let left = TRIES; left > 0 && least >= BLOCK_MS_MAX; left -= 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  assert.ok(least < BLOCK_MS_MAX, `${what} took ${least.toFixed(1)} ms`);
}
