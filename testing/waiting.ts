import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS_MAX = 60_000;
/** The first checks follow closely; a long wait polls seldom, so that it does not slow what it waits for. */
const INTERVAL_MS = { first: 2, growth: 1.3, max: 100 };

/** Polls until the check returns something other than undefined and false, and returns it. Fails when that takes too long. */
export async function until<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  what = String(check),
  waitMsMax = WAIT_MS_MAX,
): Promise<T> {
  const giveUpAt = performance.now() + waitMsMax;
  for (let interval = INTERVAL_MS.first; ; interval = Math.min(interval * INTERVAL_MS.growth, INTERVAL_MS.max)) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > giveUpAt) throw new Error(`Waited ${waitMsMax} ms in vain: ${what}`);
    await sleep(interval);
  }
}
