import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { adminPassword } from '../granary.ts';
import { signIn, type ConsoleBrowser } from './browser.ts';
import { settled, watchRequests } from './walking.ts';

const administrator = { username: 'admin', password: adminPassword } as const;

export async function signedInPage(browser: ConsoleBrowser, url: string): Promise<Page> {
  const { page } = await browser.person();
  watchRequests(page);
  await signIn(page, url, administrator);
  await settled(page);
  return page;
}

/**
 * Seconds from the first byte asked for until the first page shows all it has to show: one for each opening, in a
 * browser profile of its own that has the session and nothing else.
 */
export async function firstPageSeconds(browser: ConsoleBrowser, url: string, openings: number): Promise<number[]> {
  const seconds: number[] = [];
  const storageState = await (await signedInPage(browser, url)).context().storageState();
  for (let opening = 0; opening < openings; opening += 1) {
    const { page } = await browser.person({ storageState });
    watchRequests(page);
    const start = performance.now();
    await page.goto(url);
    await settled(page);
    seconds.push((performance.now() - start) / 1000);
    await page.context().close();
  }
  return seconds;
}

/** One record of a trace; times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args: { readonly name?: string };
  /** The processor time of the thread. */
  readonly tdur?: number;
}

/**
 * The longest task of the page's main thread while `act` runs, in milliseconds of processor time: how long the page would
 * not answer a person on a machine that has nothing else to do.
 */
export async function longestTaskMs(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser() as Browser;
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const isMainThread = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === 'CrRendererMain';
  const mainThreads = new Set(traceEvents.filter(isMainThread).map(threadOf));
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && mainThreads.has(threadOf(event)));
  const durations = tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1000]));
  if (durations.length === 0) throw new Error('The trace has no task of the page.');
  return Math.max(...durations);
}

/** The page is left alone while its figures move. */
export function longestTaskWhileMovingMs(page: Page, ms: number): Promise<number> {
  return longestTaskMs(page, () => sleep(ms));
}
