import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { adminPassword } from '../granary.ts';
import { bringAxe, seriousProblems } from './axe.ts';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser } from './browser.ts';
import { startMarkedCloud, MARK, type MarkedCloud } from './marked-cloud.ts';
import { closeTop, offersOf } from './offered.ts';
import { patternsOfPortal, settled, walk, watchRequests, type Pattern } from './walking.ts';

/**
 * Goal: no page of the console has a serious problem of accessibility, in both colour schemes and at both widths, and no
 * name that people gave is taken for markup.
 * Method: an installation in which every name is markup and every page has something to show. Every page of the lists
 * that router and menu are made of is opened, with its dialogs; axe looks at it, and the document must have none of the
 * elements that the names would make.
 */
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
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

async function signedIn(viewport: { width: number; height: number }): Promise<Page> {
  const { page } = await browser.person({ viewport });
  await bringAxe(page.context());
  watchRequests(page);
  await signIn(page, cloud.granary.url, { username: 'admin', password: adminPassword });
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

test(
  'axe finds nothing serious on any page and in any dialog, and names are text, at 1280 pixels',
  { skip },
  async () => {
    const page = await signedIn(WIDE);
    const problems = new Problems();
    const dialogs = new Set<string>();
    let named = 0;
    const look = async (where: string, within: string, isDarkToo = true) => {
      problems.add(where, await seriousProblems(page, within));
      problems.add(where, await markupIn(page));
      if (!isDarkToo) return;
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled(page);
      // The menu is the same on all pages: the first has been looked at as a whole.
      const changing = within === 'html' && where !== patterns[0]?.pattern ? 'main' : within;
      problems.add(`${where}, dark`, await seriousProblems(page, changing, 'colours'));
      await page.emulateMedia({ colorScheme: 'light' });
      await settled(page);
    };
    const unreached = await walk(page, patterns, async ({ pattern }) => {
      await look(pattern, 'html');
      if ((await page.locator('main').innerText()).includes(MARK)) named += 1;
      let opened = 0;
      for (const offer of await offersOf(page)) {
        const kind = `${offer.operation} ${offer.label}`;
        if (dialogs.has(kind)) continue;
        dialogs.add(kind);
        const dialog = await offer.open();
        await look(`${pattern} ${kind}`, '[role="dialog"]', (opened += 1) === 1);
        await closeTop(page, dialog);
      }
    });
    problems.none();
    assert.deepEqual(unreached, []);
    assert.ok(named > patterns.length / 3, `names are shown as text on ${named} pages`);
    assert.ok(dialogs.size > 60, `${dialogs.size} dialogs were opened`);
  },
);

test('axe finds nothing serious on any page, and nothing is cut off, at 390 pixels', { skip }, async () => {
  const page = await signedIn(NARROW);
  await page.emulateMedia({ colorScheme: 'dark' });
  const problems = new Problems();
  await walk(page, patterns, async ({ pattern }) => {
    problems.add(`${pattern}, dark`, await seriousProblems(page));
    problems.add(pattern, await wideParts(page));
    await page.emulateMedia({ colorScheme: 'light' });
    await settled(page);
    problems.add(pattern, await seriousProblems(page, 'main', 'colours'));
    await page.emulateMedia({ colorScheme: 'dark' });
  });
  problems.none();
});

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
  const page = await signedIn(WIDE);
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
