import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { until } from '../../testing/waiting.ts';
import { makePool, orderArray, type Ordered } from '../block-array.ts';
import { adminPassword, startGranary, type Granary } from '../granary.ts';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser } from './browser.ts';
import { openPath, settled, watchRequests } from './walking.ts';

/**
 * Goal: the console stays small with 100 arrays and in a tab that is open for long: a bounded number of bytes, of requests,
 * and of elements in the page. What takes time is in `budget.alone.test.ts`.
 * Method: one real array; on the way to the browser its record is repeated under other names, part by part as the browser
 * asks for it.
 */
const ARRAYS = 100;
const FIRST_PAGE_BYTES_MAX = 350_000;
const FIRST_PAGE_REQUESTS_MAX = 40;
const READINGS_MS_MAX = 240_000;
const skip = await skipWithoutBrowser();

let folder: string;
let granary: Granary;
let array: Ordered;
let browser: ConsoleBrowser;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  array = await orderArray(await granary.admin(), 'tank', { SSD_10GB: 2 });
  const { pool } = await makePool(array.client, 'fast');
  await array.client.volumes.create({ name: 'volume 0', pool, capacity: 1024 });
  browser = await launchBrowser();
});

after(async () => {
  if (skip !== false) return;
  try {
    // Before the service stops: pages that are open would say so.
    await browser.close();
  } finally {
    await granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

async function signedIn(): Promise<Page> {
  const { page } = await browser.person();
  watchRequests(page);
  await signIn(page, granary.url, { username: 'admin', password: adminPassword });
  await settled(page);
  return page;
}

/** The paths that a page asks for from now on. */
function requestsOf(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.includes('/api/') && request.resourceType() !== 'eventsource') asked.push(pathname + search);
  });
  return asked;
}

interface Listed {
  readonly name?: string;
  readonly id?: unknown;
}

/** Answers with the part that was asked for of a list that repeats its first record. */
async function repeat(route: Route, list: string, count: number, renamed: (one: Listed, at: number) => object) {
  const { searchParams } = new URL(route.request().url());
  const answer = await route.fetch({ url: withoutPage(route.request().url()) });
  const body = (await answer.json()) as Record<string, Record<string, unknown>>;
  const holder = (body['response'] ?? body) as Record<string, readonly Listed[]>;
  const first = holder[list]?.[0] ?? {};
  const start = Number(searchParams.get('start') ?? 0);
  const length = Math.max(0, Math.min(Number(searchParams.get('limit') ?? count), count - start));
  (holder as Record<string, unknown>)[list] = Array.from({ length }, (_, at) => ({
    ...first,
    ...renamed(first, start + at),
  }));
  await route.fulfill({ response: answer, json: body });
}

function withoutPage(url: string): string {
  const all = new URL(url);
  all.searchParams.delete('start');
  all.searchParams.delete('limit');
  return all.href;
}

const elementsIn = (page: Page) => page.evaluate(() => document.querySelectorAll('*').length);

test('100 arrays cost the list and the overview as many requests as one', { skip }, async () => {
  const page = await signedIn();
  const countAt = async (path: string) => {
    await openPath(page, path);
    const asked = requestsOf(page);
    await page.reload();
    await settled(page);
    // What is read again, because it changed just then, counts once.
    return new Set(asked.filter((one) => !one.includes('sessions'))).size;
  };
  const few = { list: await countAt('/arrays'), overview: await countAt('/') };
  await page.route(/\/api\/arrays(\?|$)/, (route) =>
    repeat(route, 'data', ARRAYS, (_, at) => ({ id: at + 1, name: `array ${at}` })),
  );
  const many = { list: await countAt('/arrays'), overview: await countAt('/') };
  await openPath(page, '/arrays');
  await page
    .getByRole('status')
    .filter({ hasText: String(ARRAYS) })
    .first()
    .waitFor();
  assert.deepEqual(many, few);
});

test('the first page is under 350 kB compressed, in few requests', { skip }, async () => {
  const { page } = await browser.person();
  watchRequests(page);
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let [bytes, requests] = [0, 0];
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await signIn(page, granary.url, { username: 'admin', password: adminPassword });
  await settled(page);
  assert.ok(bytes > 50_000 && bytes < FIRST_PAGE_BYTES_MAX, `${bytes} bytes`);
  assert.ok(requests < FIRST_PAGE_REQUESTS_MAX, `${requests} requests`);
});

test('while figures move, the page changes what is there and does not grow', { skip }, async () => {
  const page = await signedIn();
  await openPath(page, `/arrays/${array.id}/block/performance`);
  const asked = requestsOf(page);
  const figures = () => asked.filter((one) => /\/performance(\?|$)/.test(one)).length;
  const rounds = async (count: number) => {
    const start = figures();
    await until(() => figures() >= start + count, `${count} more readings`, READINGS_MS_MAX);
  };
  await rounds(2);
  const before = await elementsIn(page);
  await rounds(4);
  await settled(page);
  const grown = (await elementsIn(page)) - before;
  assert.ok(Math.abs(grown) < 40, `${grown} more elements`);
});
