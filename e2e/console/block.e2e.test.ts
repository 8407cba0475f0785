import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { adminPassword, startGranary } from '../granary.ts';
import { goTo, launchBrowser, orderArray, signIn, signOut, skipWithoutBrowser, waitForText } from './browser.ts';

const skip = await skipWithoutBrowser();
const CUSTOMER = { username: 'maria', password: 'a customer password' };
const STORY_MS_MAX = 300_000;

/**
 * Goal: one array, from the order to a rebuild, by what a person sees and presses and nothing else.
 *
 * Method: a customer orders, the operator approves; the customer builds on it. Nobody reloads a page: what changes while
 * it is shown has to come by itself.
 */
test('an array is ordered, approved, built, attached and repaired in the console', { skip, timeout: STORY_MS_MAX }, async (t) => {
  const dataDir = temporaryFolder(t);
  const granary = await startGranary(dataDir);
  t.after(() => granary.kill());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const admin = await granary.admin();
  await admin.users.create(CUSTOMER);

  const customer = await browser.person();
  const operator = await browser.person();
  const { page } = customer;
  const dump = async (what: string, role: 'main' | 'dialog' = 'main') => { console.error('---', what, page.url()); console.error(await page.getByRole(role).ariaSnapshot()); };
  const dialog = page.getByRole('dialog');
  const time = Date.now();
  const step = (what: string) => console.error(`=== ${what} ${Date.now() - time}`);
  try {
  await signIn(page, granary.url, CUSTOMER);
  step('signed in');
  await orderArray(page, {
    name: 'ledger',
    kind: 'Disks and file shares',
    drives: { '10 GB SSD': 4 },
    options: { 'Make pools at once': false },
  });
  step('ordered');
  await signIn(operator.page, granary.url, { username: 'admin', password: adminPassword });
  await goTo(operator.page, 'Requests');
  await operator.page.getByRole('button', { name: 'Approve' }).click();
  await operator.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await waitForText(operator.page, 'Nothing waits for a decision.');
  step('approved');
  await page.getByRole('link', { name: 'Open the array' }).click();
  await page.getByText('From drives to volumes').waitFor();
  step('opened');
  await page.getByRole('button', { name: 'New RAID group' }).click();
  await dump('rg', 'dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('pair');
  await dialog.getByRole('button', { name: 'New RAID group' }).click();
  await page.getByRole('heading', { level: 1, name: 'pair' }).waitFor();
  step('raid group');
  await page.getByRole('button', { name: 'New pool' }).click();
  await dump('pool', 'dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('fast');
  await dialog.getByRole('button', { name: 'New pool' }).click();
  await page.getByRole('heading', { level: 1, name: 'fast' }).waitFor();
  step('pool');
  await page.getByRole('button', { name: 'New volume' }).first().click();
  await dump('volume', 'dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('books');
  await dialog.getByRole('textbox', { name: 'Size' }).fill('2');
  await dialog.getByRole('button', { name: 'New volume' }).click();
  await page.getByRole('heading', { level: 1, name: 'books' }).waitFor();
  step('volume');
  await page.getByRole('button', { name: 'New server' }).click();
  await dump('server', 'dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('desk');
  await dialog.getByRole('textbox', { name: /initiator/i }).fill('iqn.2026-11.org.example:desk');
  await dialog.getByRole('button', { name: 'New server' }).click();
  await page.getByRole('button', { name: 'Attach to servers' }).first().click();
  await dump('attach', 'dialog');
  await dialog.getByRole('checkbox', { name: /desk/ }).check();
  await dialog.getByRole('button', { name: 'Attach to servers' }).click();
  await waitForText(page, /iscsiadm -m discovery/);
  step('attached');
  await page.getByRole('button', { name: 'Take a snapshot' }).first().click();
  await dump('snap', 'dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('first');
  await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByRole('row', { name: /first/ }).waitFor();
  step('snapshot');
  await dump('volume page');
  } catch (error) {
    console.error(await page.locator('body').ariaSnapshot());
    throw error;
  }
});
