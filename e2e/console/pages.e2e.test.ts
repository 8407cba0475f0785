import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { adminPassword } from '../granary.ts';
import { bringAxe, seriousProblems } from './axe.ts';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser, type SignIn } from './browser.ts';
import { startMarkedCloud, MARK, type MarkedCloud } from './marked-cloud.ts';
import { closeTop, offersOf } from './offered.ts';
import { listedPages } from './page-lists.ts';
import { below, patternsOfPortal, settled, walk, watchRequests, type Pattern } from './walking.ts';

/**
 * Goal: no page of the console has a serious problem of accessibility, in both colour schemes and at both widths, and no
 * name that people gave is taken for markup.
 * Method: an installation in which every name is markup and every page has something to show. Every page of the lists
 * that router and menu are made of is opened, with its dialogs; axe looks at it, and the document must have none of the
 * elements that the names would make.
 */
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
const ADMIN = { username: 'admin', password: adminPassword };
const skip = await skipWithoutBrowser();

let folder: string;
let cloud: MarkedCloud;
let browser: ConsoleBrowser;
let patterns: readonly Pattern[];

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  cloud = await startMarkedCloud(folder);
  browser = await launchBrowser();
  patterns = await patternsOfPortal({ block: cloud.block.id, objects: cloud.objects.id });
});

after(async () => {
  if (skip !== false) return;
  try {
    // Before the service stops: pages that are open would say so.
    await browser.close();
  } finally {
    await cloud.granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

/** Problems by the page they are on; the same on many pages is said once. */
class Problems {
  readonly #seen = new Map<string, string>();

  add(where: string, problems: readonly string[]): void {
    for (const problem of problems) {
      const kind = problem.replaceAll(/\b(?:mantine-\w+|id="[^"]*"|\d+)/g, '');
      if (!this.#seen.has(kind)) this.#seen.set(kind, `${where}: ${problem}`);
    }
  }

  none(): void {
    assert.deepEqual([...this.#seen.values()], []);
  }
}

async function signedIn(url: string, who: SignIn, options: BrowserContextOptions = {}): Promise<Page> {
  const { page } = await browser.person({ viewport: WIDE, ...options });
  await bringAxe(page.context());
  watchRequests(page);
  await signIn(page, url, who);
  return page;
}

/** The elements that the names would make if they were taken for markup, and what their scripts would leave. */
function markupIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const made = [...document.querySelectorAll('img[src="x"], img[onerror], marked-name')].map(
      ({ outerHTML }) => outerHTML,
    );
    const { executed } = window as { executed?: string };
    const scripts = [...document.querySelectorAll('script:not([src])')].map(({ outerHTML }) => outerHTML);
    const links = [...document.querySelectorAll('a[href^="javascript:" i]')].map(({ outerHTML }) => outerHTML);
    return [...made, ...scripts, ...links, ...(executed === undefined ? [] : [`executed: ${executed}`])];
  });
}

/** One walk through a console, and what it found. */
interface Walk {
  readonly page: Page;
  readonly patterns: readonly Pattern[];
  readonly problems: Problems;
  /** The dialogs that were looked at, here or in another walk. */
  readonly dialogs: Set<string>;
  readonly where: string;
  /** Its pages are those of another walk, in a frame of its own: the first is looked at in all ways, the others in one. */
  readonly isAgain?: boolean;
}

/** Every page with its dialogs, both schemes and both widths in one visit; returns how many pages show names. */
async function lookAtAll({ page, patterns, problems, dialogs, where, isAgain = false }: Walk): Promise<number> {
  let named = 0;
  const framed = new Set<string>();
  const look = async (what: string, within: string, schemes: 'both' | 'present' = 'both') => {
    problems.add(`${where} ${what}`, await seriousProblems(page, within, schemes));
    problems.add(`${where} ${what}`, await markupIn(page));
  };
  const unreached = await walk(page, patterns, async ({ pattern }) => {
    // Header and menu are the same on all pages of a service: the first is looked at as a whole.
    const service = pattern.split('/', 4)[3] ?? '';
    const isFirst = !framed.has(service);
    framed.add(service);
    await look(pattern, isFirst ? 'html' : 'main', isAgain && !isFirst ? 'present' : 'both');
    if ((await page.locator('main').innerText()).includes(MARK)) named += 1;
    for (const offer of await offersOf(page)) {
      const kind = `${offer.operation} ${offer.label}`;
      if (dialogs.has(kind)) continue;
      dialogs.add(kind);
      const dialog = await offer.open();
      await look(`${pattern} ${kind}`, '[role="dialog"]');
      await closeTop(page, dialog);
    }
    if (isAgain && !isFirst) return;
    await page.setViewportSize(NARROW);
    await settled(page);
    if (isFirst) await lookAtMenu(page, (problem) => problems.add(`${where} ${pattern}, narrow`, problem));
    else await look(`${pattern}, narrow`, 'main', 'present');
    problems.add(`${where} ${pattern}`, await wideParts(page));
    await page.setViewportSize(WIDE);
    await settled(page);
  });
  assert.deepEqual(unreached, []);
  return named;
}

/** On a narrow screen the menu is behind a button. */
async function lookAtMenu(page: Page, found: (problems: readonly string[]) => void): Promise<void> {
  found(await seriousProblems(page));
  const button = page.getByRole('button', { name: 'Menu', exact: true });
  await button.click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await settled(page);
  found(await seriousProblems(page));
  await button.click();
}

test(
  'axe finds nothing serious on any page and in any dialog, and names are text, light and dark, wide and narrow',
  { skip },
  async () => {
    const [problems, dialogs] = [new Problems(), new Set<string>()];
    const parts = { problems, dialogs };
    const again = { ...parts, isAgain: true };
    const { block, objects, granary } = cloud;
    const page = await signedIn(granary.url, ADMIN);
    // An array that is signed in to directly serves a console of its own.
    const [atBlock, atObjects] = await Promise.all([
      signedIn(block.url, { username: 'admin', password: block.passcode }, { colorScheme: 'dark' }),
      signedIn(objects.url, { username: 'admin', password: objects.passcode }, { colorScheme: 'dark' }),
    ]);
    const [named] = await Promise.all([
      lookAtAll({ ...parts, page, patterns, where: 'portal' }),
      lookAtAll({ ...again, page: atBlock, patterns: below('', await listedPages('array')), where: 'array' }),
      lookAtAll({ ...again, page: atObjects, patterns: below('', await listedPages('objects')), where: 'objects' }),
    ]);
    problems.none();
    assert.ok(named > patterns.length / 3, `names are shown as text on ${named} pages`);
    assert.ok(dialogs.size > 60, `${dialogs.size} dialogs were opened`);
  },
);

/** What reaches beyond the right edge and cannot be scrolled to within its own part of the page. */
function wideParts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      element !== document.body &&
      (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    return [...document.querySelectorAll('main *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement))
      .map(({ outerHTML }) => `reaches beyond the page: ${outerHTML.slice(0, 160)}`);
  });
}

test('the palette and the menu of the person have no serious problem', { skip }, async () => {
  const page = await signedIn(cloud.granary.url, ADMIN);
  const problems = new Problems();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('img');
  await page.getByRole('option').first().waitFor();
  await settled(page);
  problems.add('palette', await seriousProblems(page));
  problems.add('palette', await markupIn(page));
  await closeTop(page, page.getByRole('combobox', { name: 'Search' }));
  await page.getByRole('button', { name: /^Signed in as / }).click();
  await page.getByRole('menu').waitFor();
  await settled(page);
  problems.add('menu', await seriousProblems(page));
  problems.none();
});
