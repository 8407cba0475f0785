import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../../testing/waiting.ts';
import { attach, makePool, orderArray, type Ordered } from '../block-array.ts';
import { startGranary, type Granary } from '../granary.ts';
import { launchBrowser, skipWithoutBrowser, type ConsoleBrowser } from './browser.ts';
import { firstPageSeconds, longestTaskMs, longestTaskWhileMovingMs, signedInPage } from './measuring.ts';
import { openPath } from './walking.ts';

/**
 * Goal: the console's budget. The first page is usable within 2 s, no task takes over 200 ms while figures move, and a
 * list of 10,000 volumes scrolls, filters and sorts within the same limit.
 * Method: a real array with 10,000 volumes, one of which is written to all the time. Tasks are measured in processor
 * time, which other load does not change. The first page is opened until it was soon enough, a few times at most: a busy
 * machine only delays it. The test has the machine to itself.
 */
const VOLUMES = 10_000;
const CALLERS = 16;
const USABLE_S_MAX = 2;
const OPENINGS_MAX = 10;
const TASK_MS_MAX = 200;
const WATCHED_MS = 8_000;
const SCROLLS = 20;
/** With the one that is written to. */
const LISTED = '10,001';
const skip = await skipWithoutBrowser();

let folder: string;
let granary: Granary;
let array: Ordered;
let browser: ConsoleBrowser;
let load: Load;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  array = await orderArray(await granary.admin(), 'tank', { SSD_10GB: 2 });
  const { pool } = await makePool(array.client, 'fast');
  await createVolumes(pool);
  load = await Load.start(array, pool);
  browser = await launchBrowser();
});

after(async () => {
  if (skip !== false) return;
  await load.stop();
  await granary.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  await browser.close();
});

async function createVolumes(pool: string): Promise<void> {
  let next = 0;
  const call = async () => {
    while (next < VOLUMES) {
      const at = next;
      next += 1;
      await array.client.volumes.create({ name: `volume ${at}`, pool, capacity: 1 + (at % 64) });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

/** Writes at an even pace to a volume that is attached, until it is stopped. */
class Load {
  readonly #running: Promise<void>;
  #isStopped = false;

  private constructor(running: (isStopped: () => boolean) => Promise<void>) {
    this.#running = running(() => this.#isStopped);
  }

  static async start({ client }: Ordered, pool: string): Promise<Load> {
    const { vol_name: volume } = await client.volumes.create({ name: 'written', pool, capacity: 64 });
    const { disk } = await attach(client, volume);
    const { session, unit } = await disk.session();
    const block = Buffer.alloc(64 * 1024, 7);
    return new Load(async (isStopped) => {
      for (let at = 0; !isStopped(); at = (at + 128) % 131_072) {
        await unit.write(at, block);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await session.close();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}

test('the first page is usable within 2 s, with nothing cached', { skip }, async (t) => {
  const tried: number[] = [];
  while (tried.length < OPENINGS_MAX && !tried.some((seconds) => seconds < USABLE_S_MAX)) {
    tried.push(...(await firstPageSeconds(browser, granary.url, 1)));
  }
  t.diagnostic(`${tried.map((seconds) => seconds.toFixed(2)).join(', ')} s`);
  assert.ok(Math.min(...tried) < USABLE_S_MAX, `the first page took ${tried.join(', ')} s`);
});

test('no task takes over 200 ms while figures move', { skip }, async (t) => {
  const page = await signedInPage(browser, granary.url);
  const block = `/arrays/${array.id}/block`;
  for (const path of ['/', block, `${block}/performance`, `${block}/volumes`]) {
    await openPath(page, path);
    await isShort(t, path, await longestTaskWhileMovingMs(page, WATCHED_MS));
  }
});

test(
  '10,000 volumes scroll, filter and sort with the rows in view alone, in tasks of under 200 ms',
  { skip },
  async (t) => {
    const page = await signedInPage(browser, granary.url);
    const asked = listsAsked(page);
    const open = async () => {
      await openPath(page, `/arrays/${array.id}/block/volumes`);
      await counted(page, LISTED);
    };
    await isShort(t, 'opening', await longestTaskMs(page, open));
    assert.ok(asked.length <= VOLUMES / 500 + 1, `${asked.length} requests for the list`);
    assert.ok((await rowsIn(page).count()) < 60, 'only rows in view are in the page');
    const elements = await elementsIn(page);
    assert.ok(elements < 3000, `${elements} elements`);

    await isShort(t, 'scrolling', await longestTaskMs(page, () => scrollToEnd(page)));
    assert.ok((await elementsIn(page)) < elements * 1.5, 'as many elements as before');

    const before = asked.length;
    const found = Array.from({ length: VOLUMES }, (_, at) => String(at)).filter((text) => text.includes('777')).length;
    const filter = async () => {
      await page.getByRole('textbox', { name: 'Filter Volumes and shares' }).pressSequentially('volume 777');
      await counted(page, `${found} of ${LISTED}`);
    };
    await isShort(t, 'filtering', await longestTaskMs(page, filter));
    assert.equal(await rowsIn(page).count(), found);
    await page.getByRole('textbox', { name: 'Filter Volumes and shares' }).fill('');
    await counted(page, LISTED);
    await isShort(t, 'sorting', await longestTaskMs(page, () => sortBy(page, 'Size')));
    assert.equal(asked.length, before, 'filtering and sorting ask for nothing');
  },
);

async function isShort(t: { diagnostic(message: string): void }, what: string, ms: number): Promise<void> {
  t.diagnostic(`${what}: the longest task took ${Math.round(ms)} ms`);
  assert.ok(ms < TASK_MS_MAX, `${what}: a task took ${Math.round(ms)} ms`);
}

/** The requests for parts of the list from now on, without those that a change of the list brings about. */
function listsAsked(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith('/api/volumes')) asked.push(pathname);
  });
  return asked;
}

const rowsIn = (page: Page) => page.locator('main tbody tr:not([aria-hidden])');
const elementsIn = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length);

function counted(page: Page, text: string): Promise<void> {
  return page.getByRole('status').filter({ hasText: text }).first().waitFor();
}

async function scrollToEnd(page: Page): Promise<void> {
  const scroll = page.getByRole('region', { name: 'Volumes and shares' });
  for (let at = 1; at <= SCROLLS; at += 1) {
    await scroll.evaluate((element, share) => element.scrollTo({ top: element.scrollHeight * share }), at / SCROLLS);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  await until(async () => {
    await scroll.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    return page.getByRole('link', { name: `volume ${VOLUMES - 1}`, exact: true }).isVisible();
  }, 'the last volume is in view');
}

async function sortBy(page: Page, heading: string): Promise<void> {
  await page.getByRole('button', { name: heading, exact: true }).click();
  await page.getByRole('columnheader', { name: heading }).and(page.locator('[aria-sort=ascending]')).waitFor();
}
