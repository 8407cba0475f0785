import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { operations, pathParams, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { adminPassword } from '../granary.ts';
import { launchBrowser, signIn, signOut, skipWithoutBrowser, type ConsoleBrowser, type SignIn } from './browser.ts';
import { ANN, markup, startMarkedCloud, type MarkedCloud } from './marked-cloud.ts';
import { settled, watchRequests } from './walking.ts';

/** What a browser's session is protected by, seen from the browser and from a program that has only its cookie. */
const skip = await skipWithoutBrowser();
const ADMIN = { username: 'admin', password: adminPassword };
const FORBIDDEN = [401, 403];
/** Signing in is what a person without a session does, and so needs no token of one. */
const OPEN = new Set(['anyone']);

let folder: string;
let cloud: MarkedCloud;
let browser: ConsoleBrowser;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  cloud = await startMarkedCloud(folder);
  browser = await launchBrowser();
});

afterEach(async () => {
  if (skip === false) await browser.everyoneLeaves();
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

test('the cookie is read by no script and sent by no other site', { skip }, async () => {
  const { page } = await browser.person();
  await signIn(page, cloud.granary.url, ADMIN);
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  assert.deepEqual(
    cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })),
    [{ httpOnly: true, sameSite: 'Strict' }],
  );
  assert.equal(await page.evaluate(() => document.cookie), '');
  assert.deepEqual(
    await page.evaluate(() =>
      [localStorage, sessionStorage]
        .flatMap((kept) => Object.entries(kept) as [string, string][])
        .filter(([, value]) => /token|key|secret/i.test(value)),
    ),
    [],
  );
});

/** Signs in as a browser does; what it sends from then on is the cookie alone. */
async function cookieAt(url: string, credentials: object): Promise<string> {
  const answer = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** Operations that change something, and what came of each without the token. */
async function withoutToken(api: Api, base: string, cookie: string): Promise<string[]> {
  const changing = operations(api).filter(
    ({ endpoint }) => endpoint.method !== 'GET' && !OPEN.has(String(endpoint.access.roles)),
  );
  const taken: string[] = [];
  for (const { id, endpoint } of changing) {
    const path = pathParams(endpoint.path).reduce((text, name) => text.replace(`{${name}}`, '1'), endpoint.path);
    const answer = await fetch(`${base}/api${path}`, { method: endpoint.method, headers: { cookie } });
    const text = await answer.text();
    if (!/csrf/i.test(text)) taken.push(`${id}: ${answer.status} ${text.slice(0, 200)}`);
  }
  assert.ok(changing.length > 30);
  return taken;
}

test('no change is taken with the cookie alone, at any service and through the portal', { skip }, async () => {
  const { granary, block, objects } = cloud;
  const portal = await cookieAt(granary.url, ADMIN);
  assert.deepEqual(await withoutToken(portalApi, granary.url, portal), []);
  assert.deepEqual(await withoutToken(arrayApi, `${granary.url}/via/${block.id}`, portal), []);
  assert.deepEqual(await withoutToken(objectsApi, `${granary.url}/via/${objects.id}`, portal), []);
  const array = await cookieAt(block.url, { username: 'admin', password: block.passcode });
  assert.deepEqual(await withoutToken(arrayApi, block.url, array), []);
  const own = await cookieAt(objects.url, { username: 'admin', password: objects.passcode });
  assert.deepEqual(await withoutToken(objectsApi, objects.url, own), []);
  for (const method of ['PUT', 'DELETE', 'POST']) {
    const answer = await fetch(`${granary.url}/via/${objects.id}/s3/marked/page.html`, {
      method,
      headers: { cookie: portal },
    });
    assert.ok(FORBIDDEN.includes(answer.status), `${method} of an object: ${answer.status}`);
  }
});

/** The events that say who looked at a secret, the oldest first. */
async function looks(): Promise<string[]> {
  const { data } = await cloud.admin.events.list();
  return data
    .map(({ msg_title: title }) => title)
    .filter((title) => title.includes(' looked at '))
    .toReversed();
}

test('no answer holds a secret until it is asked for, and that is an event', { skip }, async () => {
  const { page } = await browser.person();
  watchRequests(page);
  const secrets = [cloud.block.passcode, cloud.objects.passcode];
  const leaks: string[] = [];
  page.on('response', (response) => {
    void response.text().then(
      (text) => {
        for (const secret of secrets) if (text.includes(secret)) leaks.push(response.url());
      },
      () => undefined,
    );
  });
  await signIn(page, cloud.granary.url, ADMIN);
  for (const path of [`/arrays/${cloud.block.id}`, `/arrays/${cloud.block.id}/block/users`, '/users', '/settings']) {
    await page.goto(cloud.granary.url + path);
    await settled(page);
  }
  assert.deepEqual(leaks, []);
  const before = await looks();
  await page.goto(`${cloud.granary.url}/arrays/${cloud.block.id}`);
  await settled(page);
  await page.getByRole('button', { name: 'Show the first password' }).click();
  await page.getByText(cloud.block.passcode).waitFor();
  assert.deepEqual(await looks(), [...before, `admin looked at the passcode of array ${markup('array')}.`]);
});

test('an uploaded document runs no script in the origin of the portal', { skip }, async () => {
  const person = await browser.person();
  const { page } = person;
  await signIn(page, cloud.granary.url, ADMIN);
  person.expectsProblem(/script|sandbox|Content Security|page\.html/i);
  const address = `${cloud.granary.url}/via/${cloud.objects.id}/s3/marked/page.html`;
  const answer = await page.context().request.get(address);
  assert.equal(answer.status(), 200);
  const headers = answer.headers();
  assert.match(headers['content-security-policy'] ?? '', /sandbox/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  const opened = await page.context().newPage();
  await opened.goto(address).catch(() => undefined);
  assert.equal(await opened.evaluate(() => (window as { executed?: unknown }).executed), undefined);
});

test('eight tabs with pages of arrays are usable at once, and each follows what changes', { skip }, async () => {
  const person = await browser.person();
  await signIn(person.page, cloud.granary.url, ADMIN);
  const path = `/arrays/${cloud.block.id}/block/servers`;
  const tabs = await Promise.all(
    Array.from({ length: 7 }, async () => {
      const tab = await person.newTab();
      await tab.goto(cloud.granary.url + path);
      await tab.getByRole('heading', { level: 1, name: 'Servers' }).waitFor();
      return tab;
    }),
  );
  await cloud.block.client.servers.create({ display_name: 'eight', iqn: 'iqn.2026-11.org.example:eight' });
  await Promise.all(tabs.map((tab) => tab.getByRole('link', { name: 'eight' }).first().waitFor()));
});

test('what was typed is there again after signing in anew, and not for somebody else', { skip }, async () => {
  const person = await browser.person();
  const { page } = person;
  person.expectsProblem(/answered with 401/);
  const path = `${cloud.granary.url}/networks`;
  const typed = page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true });
  const endSessions = async () => {
    const { sessions } = await cloud.admin.sessions.list({ all: true });
    for (const { id } of sessions) await cloud.admin.sessions.delete({ id });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  };
  const enter = async ({ username, password }: SignIn) => {
    await page.getByLabel('User name').fill(username);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Networks' }).waitFor();
  };
  await signIn(page, cloud.granary.url, ADMIN);
  await page.goto(path);
  await page.getByRole('button', { name: 'New network' }).click();
  await typed.fill('half done');
  await endSessions();
  await enter(ADMIN);
  assert.equal(await typed.inputValue(), 'half done');
  await endSessions();
  await enter(ANN);
  assert.equal(await page.getByRole('dialog').count(), 0);
});

test('who signs out in one tab is signed out in all', { skip }, async () => {
  const person = await browser.person();
  const { page } = person;
  await signIn(page, cloud.granary.url, ADMIN);
  const second = await person.newTab();
  await second.goto(`${cloud.granary.url}/arrays`);
  await second.getByRole('heading', { level: 1, name: 'Arrays' }).waitFor();
  await signOut(page);
  await second.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal(await second.locator('main h1').count(), 1, 'nothing of the page that was open is left');
});
