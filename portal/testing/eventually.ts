import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS_MAX = 20_000;
const POLL_MS = 5;

/** Looks again and again until there is something to see; a test that waits in vain fails and says for what. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  waitMsMax = WAIT_MS_MAX,
): Promise<T> {
  const giveUpAt = performance.now() + waitMsMax;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > giveUpAt) throw new Error(`Waited ${waitMsMax} ms in vain: ${what}`);
    await sleep(POLL_MS);
  }
}
