import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../../testing/folders.ts';
import { adminPassword, startGranary } from '../granary.ts';
import { ended, hashOf } from '../programs.ts';
import { goTo, launchBrowser, orderArray, signIn, signOut, skipWithoutBrowser, waitForText } from './browser.ts';
import { saved } from './forms.ts';
import { picture } from './screenshots.ts';

const skip = await skipWithoutBrowser();
const STORY_MS_MAX = 600_000;
const MEGABYTE = 2 ** 20;
const OBJECT_MEGABYTES = 200;
const CUSTOMER = { username: 'maria', password: 'a customer password' };
const OPERATOR = { username: 'admin', password: adminPassword };

/**
 * Goal: objects from the order of their array to the bill, by what people see and press.
 *
 * Method: the operator orders the array and opens an account for a customer, who fills a bucket through the portal,
 * reads the bill and signs out. What the browser saved is compared with what it was given.
 */
test('an object is uploaded, downloaded and billed in the console', { skip, timeout: STORY_MS_MAX }, async (t) => {
  const granary = await startGranary(temporaryFolder(t));
  t.after(() => granary.kill());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const admin = await granary.admin();
  await admin.users.create(CUSTOMER);
  const { page: operator } = await browser.person();
  const customer = await browser.person();
  const { page } = customer;

  t.diagnostic('the operator orders the array and opens an account');
  await signIn(operator, granary.url, OPERATOR);
  await orderArray(operator, { name: 'attic', kind: 'Object storage', drives: { '10 GiB SSD': 2 } });
  await operator.getByRole('link', { name: 'Open the array' }).waitFor();
  await openAccount(operator, 'papers', CUSTOMER.username);

  t.diagnostic('the customer fills a bucket');
  await signIn(page, granary.url, CUSTOMER);
  await openBucket(page, 'papers', 'scans');
  const file = join(temporaryFolder(t), 'survey.bin');
  writeFileSync(file, randomBytes(OBJECT_MEGABYTES * MEGABYTE));
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload' }).click();
  await (await chooser).setFiles(file);
  await waitForText(page, '1 of 1 uploaded');
  await page.getByRole('row', { name: /survey\.bin 200 MiB/ }).waitFor();
  await picture(page, 'bucket');

  t.diagnostic('the customer gives the bucket a policy and a tag, and lets web pages read it');
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  const part = (name: string) => page.getByRole('region', { name, exact: true });
  await part('Bucket policy').getByLabel('Policy (JSON)').fill('{"Statement": 1');
  await waitForText(page, /^This is not JSON/);
  await part('Bucket policy').getByRole('combobox', { name: 'Begin with an example' }).click();
  await page.getByRole('option', { name: 'Anyone may read objects' }).click();
  await part('Bucket policy').getByRole('button', { name: 'Save policy' }).click();
  await page
    .getByRole('dialog', { name: 'Open the bucket to everyone?' })
    .getByRole('button', { name: 'Save and open it' })
    .click();
  await part('Bucket policy').getByRole('button', { name: 'Remove policy' }).waitFor();
  await part('Tags').getByRole('button', { name: 'Add a tag' }).click();
  await part('Tags').getByLabel('Name of tag 1').fill('project');
  await part('Tags').getByRole('button', { name: 'Save tags' }).click();
  await waitForText(page, 'The tags are saved.');
  await part('CORS').getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('dialog').getByLabel('Origins').fill('https://app.example.org');
  await page.getByRole('dialog').getByRole('button', { name: 'Save rule' }).click();
  await part('CORS').getByRole('cell', { name: 'https://app.example.org' }).waitFor();
  await page.reload();
  await part('Bucket policy').getByRole('button', { name: 'Remove policy' }).waitFor();
  assert.equal(await part('Tags').getByLabel('Name of tag 1').inputValue(), 'project');
  await part('Replication')
    .getByText(/grants this account a remote endpoint/)
    .waitFor();
  await goTo(page, 'Overview', 'papers');
  await waitForText(page, 'Capacity over time');
  await goTo(page, 'Usage report');
  await waitForText(page, /^Capacity, /);
  await picture(page, 'usage');
  await goTo(page, 'Buckets');
  await page.getByRole('link', { name: 'scans', exact: true }).click();
  const object = await saved(page, () => page.getByRole('link', { name: 'Download survey.bin' }).click());
  assert.equal(hashOf(object), hashOf(file));

  t.diagnostic('the operator reads the bill');
  await goTo(operator, 'Accounts');
  await operator.getByRole('row', { name: /^papers/ }).waitFor();
  await picture(operator, 'accounts');
  await goTo(operator, 'Billing');
  await operator.getByRole('row', { name: /^attic/ }).waitFor();
  await picture(operator, 'billing');
  const bill = await saved(operator, () => operator.getByRole('link', { name: 'Download the bill' }).click());
  const listed = await ended('unzip', ['-p', bill, '*.csv'], { cwd: '/', env: {} });
  assert.match(listed.stdout, /attic/);

  t.diagnostic('signing out holds for every tab');
  const second = await customer.newTab();
  await second.goto(granary.url);
  await second.getByRole('navigation', { name: 'Pages' }).waitFor();
  await signOut(page);
  await second.getByRole('button', { name: 'Sign in' }).waitFor();
  await second.reload();
  await second.getByRole('button', { name: 'Sign in' }).waitFor();
});

async function openAccount(page: Page, name: string, owner: string): Promise<void> {
  await goTo(page, 'Accounts');
  await page.getByRole('button', { name: 'New account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Account', exact: true }).fill(name);
  await dialog.getByRole('textbox', { name: 'Its administrator' }).fill(owner);
  await dialog.getByRole('textbox', { name: 'Password of the administrator' }).fill('Orange-kettle-41');
  await dialog.getByRole('combobox', { name: 'Belongs to' }).click();
  await page.getByRole('option', { name: owner }).click();
  await dialog.getByRole('button', { name: 'New account' }).click();
  await page.getByRole('row', { name: new RegExp(`^${name} .* created`) }).waitFor();
}

/** From the account at the portal to an empty bucket. */
async function openBucket(page: Page, account: string, bucket: string): Promise<void> {
  await goTo(page, 'Accounts');
  await page.getByRole('region', { name: 'Accounts' }).getByRole('link', { name: account }).click();
  await goTo(page, 'Buckets');
  await page.getByRole('button', { name: 'Make the first one' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill(bucket);
  await dialog.getByRole('button', { name: 'Make bucket' }).click();
  await page.getByRole('heading', { level: 1, name: bucket }).waitFor();
}
