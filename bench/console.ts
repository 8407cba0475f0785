import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePool, orderArray } from '../e2e/block-array.ts';
import { launchBrowser, skipWithoutBrowser } from '../e2e/console/browser.ts';
import { firstPageSeconds, longestTaskWhileMovingMs, signedInPage } from '../e2e/console/measuring.ts';
import { openPath } from '../e2e/console/walking.ts';
import { startGranary } from '../e2e/granary.ts';
import { below, median, notMeasured, type Ratio } from './ratio.ts';

const OPENINGS = 5;
const USABLE_S_MAX = 2;
const WATCHED_MS = 20_000;
const TASK_MS_MAX = 200;

/** How soon the first page is there, and whether moving figures ever hold the page up. */
export async function benchConsole(): Promise<Ratio[]> {
  const missing = await skipWithoutBrowser();
  if (missing !== false) return [notMeasured('seconds until the first page can be used', missing)];
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-bench-'));
  const granary = await startGranary(dataDir);
  const browser = await launchBrowser();
  try {
    const { id, client } = await orderArray(await granary.admin(), 'tank', { SSD_10GB: 2 });
    const { pool } = await makePool(client, 'fast');
    await client.volumes.create({ name: 'books', pool, capacity: 1024 });
    const seconds = await firstPageSeconds(browser, granary.url, OPENINGS);
    const page = await signedInPage(browser, granary.url);
    const tasks: Ratio[] = [];
    for (const path of [`/arrays/${id}/block`, `/arrays/${id}/block/performance`]) {
      await openPath(page, path);
      const longest = await longestTaskWhileMovingMs(page, WATCHED_MS);
      tasks.push(below(`ms of processor the longest task takes while figures move on ${path}`, longest, TASK_MS_MAX));
    }
    const what = `seconds until the first page can be used, with nothing cached (median of ${OPENINGS})`;
    return [below(what, median(seconds), USABLE_S_MAX), ...tasks];
  } finally {
    await browser.close();
    await granary.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
