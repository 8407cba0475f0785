import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { makePool, orderArray } from '../e2e/block-array.ts';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser } from '../e2e/console/browser.ts';
import { adminPassword, startGranary } from '../e2e/granary.ts';
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
    const seconds = await firstPages(browser, granary.url);
    const tasks: Ratio[] = [];
    for (const path of [`/arrays/${id}/block`, `/arrays/${id}/block/performance`]) {
      const longest = await longestTask(browser, granary.url, path);
      tasks.push(below(`ms the longest task takes while figures move on ${path}`, longest, TASK_MS_MAX));
    }
    const what = `seconds until the first page can be used, with nothing cached (median of ${OPENINGS})`;
    return [below(what, median(seconds), USABLE_S_MAX), ...tasks];
  } finally {
    await browser.close();
    await granary.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function signedIn(browser: ConsoleBrowser, url: string): Promise<Page> {
  const { page } = await browser.person();
  await signIn(page, url, { username: 'admin', password: adminPassword });
  await page.locator('main h1').waitFor();
  return page;
}

/** Each in a browser profile of its own that has the session and nothing else. */
async function firstPages(browser: ConsoleBrowser, url: string): Promise<number[]> {
  const seconds: number[] = [];
  const storageState = await (await signedIn(browser, url)).context().storageState();
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    const { page } = await browser.person({ storageState });
    const start = performance.now();
    await page.goto(url);
    await page.locator('main h1').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    seconds.push((performance.now() - start) / 1000);
    await page.context().close();
  }
  return seconds;
}

/** Run in the page, which is why it is text: nothing else here knows names of browsers. */
const WATCH_TASKS = `
  globalThis.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
  }).observe({ type: 'longtask' });
`;

/** In milliseconds, as the browser itself reports tasks of 50 ms and more; 0 if there was none. */
async function longestTask(browser: ConsoleBrowser, url: string, path: string): Promise<number> {
  const page = await signedIn(browser, url);
  await page.goto(`${url}${path}`);
  await page.locator('main h1').waitFor();
  await page.evaluate(WATCH_TASKS);
  await sleep(WATCHED_MS);
  const longest = await page.evaluate<number>('globalThis.longest');
  await page.context().close();
  return longest;
}
