import type { Page, Request } from 'playwright-core';
import { until } from '../../testing/waiting.ts';
import { listedPages, type ListedPage } from './page-lists.ts';

/** A page of the console by the address that the router has for it, such as `/arrays/$arrayId/block/volumes`. */
export interface Pattern extends ListedPage {
  readonly pattern: string;
}

const inFlight = new WeakMap<Page, Set<unknown>>();

/** Counts the page's requests from now on, so that `settled` knows when nothing more is on its way. */
export function watchRequests(page: Page): void {
  const open = new Set<unknown>();
  inFlight.set(page, open);
  // The change feed stays open for as long as the page does; of the script of its worker the page hears no end.
  const isFeed = (request: Request) => request.resourceType() === 'eventsource' || request.url().includes('/feed-');
  page.on('request', (request) => {
    if (!isFeed(request)) open.add(request);
  });
  page.on('requestfinished', (request) => void open.delete(request));
  page.on('requestfailed', (request) => void open.delete(request));
}

/** Until the page shows what it has read: its heading is there, and nothing waits or loads. */
export async function settled(page: Page): Promise<void> {
  const isQuiet = () => inFlight.get(page)?.size === 0;
  const isShown = () =>
    page.evaluate(
      () =>
        new Promise<boolean>((resolve) => {
          requestAnimationFrame(() =>
            requestAnimationFrame(() => {
              const waiting = [...document.querySelectorAll('main [aria-label="Loading"], main [data-loading]')];
              const isLoading = waiting.some((one) => one.checkVisibility({ visibilityProperty: true }));
              const isMoving = document
                .getAnimations()
                .some((one) => one instanceof CSSTransition && one.playState === 'running');
              resolve(!isLoading && !isMoving && document.querySelector('main h1') !== null);
            }),
          );
        }),
    );
  // Nothing may have begun while it was looked at.
  await until(async () => isQuiet() && (await isShown()) && isQuiet(), `${page.url()} shows what it read`);
}

/** Opens an address as a link of the page does: without loading the console again. */
export async function openPath(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => history.pushState({}, '', to), path);
  await settled(page);
}

/** The patterns of the portal's console, with those of the arrays behind it. */
export async function patternsOfPortal(ids: { readonly block: number; readonly objects: number }): Promise<Pattern[]> {
  const [portal, array, objects] = await Promise.all([
    listedPages('portal'),
    listedPages('array'),
    listedPages('objects'),
  ]);
  return [
    ...below('', portal),
    ...below(`/arrays/${ids.block}/block`, array),
    ...below(`/arrays/${ids.objects}/objects`, objects),
  ];
}

export function below(base: string, pages: readonly ListedPage[]): Pattern[] {
  return pages.map((page) => ({ ...page, pattern: page.path === '' ? base || '/' : `${base}/${page.path}` }));
}

type Visit = (pattern: Pattern) => Promise<void>;

/**
 * Visits every page once, and returns the patterns of those that were not found: where an address names a record, it is
 * one that a link of another page leads to.
 */
export async function walk(page: Page, patterns: readonly Pattern[], visit: Visit): Promise<readonly string[]> {
  const links = new Set<string>();
  let waiting = [...patterns];
  while (waiting.length > 0) {
    const found = waiting.flatMap((pattern) => {
      const path = pattern.pattern.includes('$') ? matching(links, pattern.pattern) : pattern.pattern;
      return path === undefined ? [] : [{ pattern, path }];
    });
    if (found.length === 0) return waiting.map(({ pattern }) => pattern);
    for (const { pattern, path } of found) {
      await openPath(page, path);
      for (const link of await linksOf(page)) links.add(link);
      await visit(pattern);
    }
    waiting = waiting.filter((pattern) => !found.some((one) => one.pattern === pattern));
  }
  return [];
}

function matching(links: Iterable<string>, pattern: string): string | undefined {
  const steps = pattern.split('/');
  return [...links].find((link) => {
    const parts = link.split('/');
    // A name in an address is not one of the fixed addresses beside it, such as `arrays/new`.
    return (
      parts.length === steps.length &&
      steps.every((step, at) => (step.startsWith('$') ? parts[at] !== 'new' : step === parts[at]))
    );
  });
}

function linksOf(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLAnchorElement>('a[href^="/"]')].map(({ pathname }) => pathname),
  );
}
