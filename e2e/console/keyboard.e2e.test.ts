import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { portalClient } from '@granary/client';
import { codeOfStep, stepAt } from '../../portal/totp/code.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { adminPassword, startGranary, type Granary } from '../granary.ts';
import { launchBrowser, skipWithoutBrowser, type ConsoleBrowser } from './browser.ts';

/** Goal: everything is done without a mouse. Method: keys alone; a control is reached when it has the focus. */
const skip = await skipWithoutBrowser();
const TABS_MAX = 150;

async function open(t: TestContext): Promise<{ readonly granary: Granary; readonly browser: ConsoleBrowser }> {
  const granary = await startGranary(temporaryFolder(t));
  t.after(() => granary.stop());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  return { granary, browser };
}

/** Goes from control to control until this one has the focus. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  for (let tab = 0; tab < TABS_MAX; tab += 1) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${String(control)} is not reached by the keyboard`);
}

async function press(page: Page, control: Locator): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press('Enter');
}

async function type(page: Page, control: Locator, text: string): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press('Control+KeyA');
  await page.keyboard.type(text);
}

async function signInByKeys(page: Page, url: string, { username, password }: Record<'username' | 'password', string>) {
  await page.goto(url);
  await type(page, page.getByLabel('User name'), username);
  await type(page, page.getByRole('textbox', { name: 'Password' }), password);
  await page.keyboard.press('Enter');
}

async function hasFocus(control: Locator): Promise<void> {
  await control.waitFor();
  const isFocused = () => control.evaluate((element) => element === document.activeElement);
  await until(isFocused, `${String(control)} has the focus`);
}

/** An item of the menu that is open, by the arrows. */
async function choose(page: Page, label: string): Promise<void> {
  const item = page.getByRole('menuitem', { name: label, exact: true });
  await item.waitFor();
  for (let step = 0; step < TABS_MAX; step += 1) {
    if (await item.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
}

/** By its name in the palette, which every page opens with two keys. */
async function goByPalette(page: Page, name: string, heading: string | RegExp = name): Promise<void> {
  await page.keyboard.press('Control+KeyK');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
  await page.keyboard.type(name);
  await page.getByRole('option', { selected: true }).filter({ hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await hasFocus(page.getByRole('heading', { level: 1, name: heading }));
}

test('an array is ordered and a volume made by the keyboard alone', { skip }, async (t) => {
  const { granary, browser } = await open(t);
  const { page } = await browser.person();
  const button = (name: string) => page.getByRole('button', { name, exact: true }).first();
  await signInByKeys(page, granary.url, { username: 'admin', password: adminPassword });
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await goByPalette(page, 'Arrays');
  await press(page, page.getByRole('link', { name: 'Order an array' }).first());
  await tabTo(page, page.getByRole('radio', { name: 'Disks and file shares' }));
  await page.keyboard.press('Space');
  await press(page, button('Next'));
  await hasFocus(page.getByRole('heading', { name: 'Size' }));
  await type(page, page.getByRole('textbox', { name: '10 GiB SSD', exact: true }), '2');
  await press(page, button('Next'));
  await type(page, page.getByRole('textbox', { name: 'Name' }), 'ledger');
  await press(page, button('Order'));
  await page.getByRole('heading', { level: 1, name: /ledger/ }).waitFor();
  await press(page, page.getByRole('link', { name: 'Open the array' }));
  await goByPalette(page, 'Volumes and shares');
  await press(page, button('New volume'));
  const dialog = page.getByRole('dialog');
  const name = dialog.getByRole('textbox', { name: 'Name', exact: true });
  await hasFocus(name);
  await page.keyboard.press('Escape');
  await hasFocus(button('New volume'));
  await page.keyboard.press('Enter');
  await type(page, name, 'books');
  await type(page, dialog.getByRole('textbox', { name: 'Size' }), '2G');
  await press(page, dialog.getByRole('button', { name: 'New volume' }));
  await page.getByRole('heading', { level: 1, name: 'books' }).waitFor();
  // From the portal's own pages what is in arrays is found, too.
  await goByPalette(page, 'Billing');
  await goByPalette(page, 'books');
  await press(page, button('More'));
  await choose(page, 'Delete');
  await hasFocus(dialog.getByRole('textbox', { name: 'Type books to confirm' }));
  await page.keyboard.press('Escape');
  await hasFocus(button('More'));
  await page.keyboard.press('Enter');
  await choose(page, 'Delete');
  await hasFocus(dialog.getByRole('textbox', { name: 'Type books to confirm' }));
  await page.keyboard.type('books');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Volumes and shares' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Volumes and shares' }).waitFor();
  await press(page, button('Skip the menu'));
  await hasFocus(page.getByRole('heading', { level: 1 }));
});

test('a person with a second factor signs in with a code, by the keyboard alone', { skip }, async (t) => {
  const { granary, browser } = await open(t);
  const careful = { username: 'careful', password: 'correct horse battery' };
  const admin = await granary.admin();
  await admin.users.create(careful);
  const { token } = (await admin.tokens.get(careful)).data;
  const client = portalClient({ url: granary.url, token });
  const { secret } = (await client.me.startTotp({ current_password: careful.password })).data;
  const codes = (await client.me.confirmTotp({ code: codeOfStep(secret, stepAt(Date.now())) })).data.recovery_codes;
  const person = await browser.person();
  const { page } = person;
  // The password alone is refused, and so is a wrong code.
  person.expectsProblem(/POST \/api\/sessions was answered with 401/);
  await signInByKeys(page, granary.url, careful);
  await type(page, page.getByLabel('Code'), '000000');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await type(page, page.getByLabel('Code'), codes[0] ?? '');
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
});
