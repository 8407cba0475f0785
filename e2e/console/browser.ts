import assert from 'node:assert/strict';
import { chromium, type BrowserContextOptions, type Page, type Response } from 'playwright-core';
import { ended, skipWithoutProgram } from '../programs.ts';

/** Where every machine finds it: Debian installs the program under this name. */
const PROGRAM = 'chromium';
const WAIT_MS_MAX = 60_000;
const SIZE = { width: 1280, height: 800 } as const;

/** A browser that speaks to nothing but the pages it is led to. */
const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
];

/** The reason to skip what needs a browser, or `false`. */
export function skipWithoutBrowser(): Promise<string | false> {
  return skipWithoutProgram(PROGRAM, PROGRAM);
}

export interface ConsoleBrowser {
  /** A person with cookies and tabs of their own. */
  person(options?: BrowserContextOptions): Promise<Person>;
  /** Closes the tabs of all: between tests, of which one ends sessions that those of another stand on. */
  everyoneLeaves(): Promise<void>;
  /** Ends the browser; fails with what went wrong in any page and was not expected. */
  close(): Promise<void>;
}

export interface Person {
  readonly page: Page;
  /** A second tab: it shares the session of the first. */
  newTab(): Promise<Page>;
  /** What a page may say from now on, because the test brings it about. */
  expectsProblem(pattern: RegExp): void;
}

/**
 * Chromium without a window. Errors of pages, of the console, of the Content-Security-Policy and refused requests are
 * problems: `close` fails with them.
 */
export async function launchBrowser(): Promise<ConsoleBrowser> {
  const executablePath = await pathOf(PROGRAM);
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS, headless: true, chromiumSandbox: false });
  const problems: string[] = [];
  return {
    async person(options = {}) {
      const context = await browser.newContext({
        viewport: SIZE,
        colorScheme: 'light',
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'UTC',
        acceptDownloads: true,
        ...options,
      });
      context.setDefaultTimeout(WAIT_MS_MAX);
      const expected: RegExp[] = [];
      const note = (problem: string) => {
        if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem);
      };
      context.on('page', (page) => watch(page, note));
      return {
        page: await context.newPage(),
        newTab: () => context.newPage(),
        expectsProblem: (pattern) => void expected.push(pattern),
      };
    },
    async everyoneLeaves() {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async close() {
      await browser.close();
      assert.deepEqual(problems, [], 'no page has a problem');
    },
  };
}

function watch(page: Page, note: (problem: string) => void): void {
  const at = () => new URL(page.url()).pathname;
  page.on('pageerror', (error) => note(`${at()}: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // A refused request is noted below, with its method and status.
    const isProblem = message.type() === 'error' && !message.text().startsWith('Failed to load resource');
    if (isProblem) note(`${at()}: ${message.text()}`);
  });
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    // A page asks whether there is a session before it shows the sign-in form.
    const isQuestion = response.status() === 401 && pathname === '/api/sessions/current';
    if (response.status() >= 400 && !isQuestion && !isUnsetInS3(response)) {
      note(`${at()}: ${response.request().method()} ${pathname} was answered with ${response.status()}`);
    }
  });
}

/** S3 answers so where a bucket has no policy, no lifecycle rules and the like. */
function isUnsetInS3(response: Response): boolean {
  const { pathname, search } = new URL(response.url());
  return response.status() === 404 && /^\/(?:via\/\d+\/)?s3\/./.test(pathname) && search !== '';
}

async function pathOf(program: string): Promise<string> {
  const { stdout } = await ended('sh', ['-c', `command -v ${program}`], { cwd: '/', env: {} });
  return stdout.trim();
}

export interface SignIn {
  readonly username: string;
  readonly password: string;
  readonly account?: string;
}

/** Opens the console at this address and signs in; the menu is there when it returns. */
export async function signIn(page: Page, url: string, { username, password, account }: SignIn): Promise<void> {
  await page.goto(url);
  await page.getByLabel('User name').fill(username);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  if (account !== undefined) await page.getByLabel('Account').fill(account);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Signed in as / }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
}

/** Opens a page by the menu and waits for its heading. */
export async function goTo(page: Page, label: string, heading: string | RegExp = label): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: label, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}

export async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

export interface ArrayOrder {
  readonly name: string;
  readonly kind: 'Disks and file shares' | 'Object storage';
  /** How many drives of each kind, by the name that the form shows. */
  readonly drives: Readonly<Record<string, number>>;
  /** What it asks in its last step: labels to switch on or off. */
  readonly options?: Readonly<Record<string, boolean>>;
  readonly onPrice?: () => Promise<void>;
}

/** Orders an array step by step; the array's page at the portal is open when it returns. */
export async function orderArray(page: Page, { name, kind, drives, options = {}, onPrice }: ArrayOrder): Promise<void> {
  await goTo(page, 'Arrays');
  await page.getByRole('link', { name: 'Order an array' }).first().click();
  await page.getByRole('radio', { name: kind }).check();
  await page.getByRole('button', { name: 'Next' }).click();
  for (const [label, count] of Object.entries(drives)) {
    await page.getByRole('textbox', { name: label, exact: true }).fill(String(count));
  }
  await onPrice?.();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  for (const [label, isOn] of Object.entries(options)) {
    await page.getByRole('checkbox', { name: label }).setChecked(isOn);
  }
  await page.getByRole('button', { name: 'Order', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor();
}
