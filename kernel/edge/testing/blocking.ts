import assert from 'node:assert/strict';

/** The maximum time that unauthenticated input may block the event loop. */
const BLOCK_MS_MAX = 50;
const TRIES = 5;

/**
 * Compares the processor time of work in this thread with the limit, an upper bound for the time that any part can
 * block. Other load makes it look slower, never faster, so the best of a few attempts counts.
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
