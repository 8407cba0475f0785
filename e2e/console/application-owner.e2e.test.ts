import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { S3Client } from '../../protocols/s3/testing/client.ts';
import { startGranary, type Granary } from '../granary.ts';
import { openAccount, orderObjects, type ObjectAccount, type OrderedObjects } from '../object-account.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText, type ConsoleBrowser } from './browser.ts';
import { saved } from './forms.ts';

/** Goal: what the owner of an application does with a bucket, by what is pressed; S3 says whether it was done. */
const skip = await skipWithoutBrowser();
const BUCKET = 'invoices';

let folder: string;
let granary: Granary;
let objects: OrderedObjects;
let account: ObjectAccount;
let s3: S3Client;
let browser: ConsoleBrowser;
let page: Page;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  objects = await orderObjects(await granary.admin(), 'attic', 2);
  account = await openAccount(objects, 'papers', 'dana');
  s3 = new S3Client(new URL(account.endpoint).origin, { access: account.accessKey, secret: account.secretKey });
  browser = await launchBrowser();
  ({ page } = await browser.person());
  await signIn(page, objects.url, { username: account.user, password: account.password, account: 'papers' });
});

after(async () => {
  if (skip !== false) return;
  try {
    s3.close();
    await browser.close();
  } finally {
    await granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

function openBucket(search = ''): Promise<unknown> {
  return page.goto(`${objects.url}/buckets/${BUCKET}${search}`);
}

function row(name: string | RegExp): Locator {
  return page.getByRole('row', { name });
}

async function contentOf(key: string): Promise<string> {
  return (await s3.call('GET', `/${BUCKET}/${key}`)).text;
}

async function upload(name: string, text: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload' }).click();
  await (await chooser).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page
    .getByRole('status')
    .filter({ hasText: /^(\d+) of \1 uploaded$/ })
    .waitFor();
}

/** A file let go over an element, as from the desktop. */
async function drop(target: Locator, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const made = new DataTransfer();
      made.items.add(new File([content ?? ''], fileName ?? ''));
      return made;
    },
    [name, text],
  );
  await target.dispatchEvent('dragover', { dataTransfer: transfer });
  await waitForText(page, /^Let go to upload into/);
  await target.dispatchEvent('drop', { dataTransfer: transfer });
}

test('a bucket is made, and files are uploaded by the button and dropped anywhere on the page', { skip }, async () => {
  await goTo(page, 'Buckets');
  await page.getByRole('button', { name: 'New bucket' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Not A Name');
  await dialog.getByRole('button', { name: 'Make bucket' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill(BUCKET);
  await dialog.getByRole('button', { name: 'Make bucket' }).click();
  await page.getByRole('heading', { level: 1, name: BUCKET }).waitFor();
  await upload('march.txt', 'first');
  await row(/march\.txt/).waitFor();
  await drop(page.getByRole('navigation', { name: 'Pages' }), 'april.txt', 'dropped');
  await row(/april\.txt/).waitFor();
  assert.deepEqual([await contentOf('march.txt'), await contentOf('april.txt')], ['first', 'dropped']);
});

test('an overwritten object is restored from its versions, and a deleted one, too', { skip }, async () => {
  await page.goto(`${objects.url}/buckets/${BUCKET}/settings`);
  await page.getByRole('region', { name: 'Versioning', exact: true }).getByRole('switch').click();
  await waitForText(page, 'It is saved.');
  await openBucket();
  await upload('march.txt', 'second');
  assert.equal(await contentOf('march.txt'), 'second');
  await openBucket('?shown=versions');
  await row(/march\.txt old/)
    .getByRole('button', { name: /^Restore march\.txt/ })
    .click();
  await waitForText(page, 'march.txt is restored.');
  assert.equal(await contentOf('march.txt'), 'first');

  await openBucket();
  await page.getByRole('button', { name: 'april.txt', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'april.txt' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  const deleting = page.getByRole('dialog', { name: /^Delete/ });
  await deleting.getByRole('textbox').fill('1');
  await deleting.getByRole('button', { name: 'Delete', exact: true }).click();
  await deleting.getByText('1 deleted, 0 refused').waitFor();
  await deleting.getByRole('button', { name: 'Close' }).last().click();
  await row(/april\.txt/).waitFor({ state: 'detached' });
  await openBucket('?shown=versions');
  await row(/april\.txt deleted/)
    .getByRole('button', { name: /^Restore april\.txt/ })
    .click();
  await waitForText(page, 'april.txt is restored.');
  assert.equal(await contentOf('april.txt'), 'dropped');
});

test('a link opens an object to somebody without an account', { skip }, async () => {
  await openBucket();
  await page.getByRole('button', { name: 'march.txt', exact: true }).click();
  const share = page.getByRole('dialog').getByRole('region', { name: 'Share' });
  await share.getByRole('button', { name: 'Make a link' }).click();
  const link = await share.locator('.command').innerText();
  const fetched = await fetch(link);
  assert.deepEqual([fetched.status, await fetched.text()], [200, 'first']);
});

test('folders are walked, and one is deleted with what it holds', { skip }, async () => {
  for (const name of ['a', 'b']) await s3.call('PUT', `/${BUCKET}/2026/may/${name}.txt`, { body: name });
  await openBucket();
  await page.getByRole('link', { name: '2026/' }).click();
  await page.getByRole('link', { name: 'may/' }).click();
  await row(/a\.txt/).waitFor();
  const file = await saved(page, () => page.getByRole('link', { name: 'Download b.txt' }).click());
  assert.equal(readFileSync(file, 'utf8'), 'b');
  await openBucket();
  await page.getByRole('checkbox', { name: 'Select 2026/' }).check();
  await page.getByRole('button', { name: 'Delete' }).click();
  const deleting = page.getByRole('dialog', { name: /^Delete/ });
  await deleting.getByRole('textbox').fill('1');
  await deleting.getByRole('button', { name: 'Delete', exact: true }).click();
  await deleting.getByText('2 deleted, 0 refused').waitFor();
  await deleting.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('checkbox', { name: 'Select 2026/' }).waitFor({ state: 'detached' });
});

test('a lifecycle rule is added, and S3 has it', { skip }, async () => {
  await page.goto(`${objects.url}/buckets/${BUCKET}/settings`);
  const lifecycle = page.getByRole('region', { name: 'Lifecycle', exact: true });
  await lifecycle.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('old invoices');
  await dialog.getByLabel('Delete objects after').fill('365');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await lifecycle.getByRole('cell', { name: 'deletes objects after 365 days' }).waitFor();
  const stored = await s3.call('GET', `/${BUCKET}`, { query: { lifecycle: '' } });
  assert.deepEqual([stored.all('ID'), stored.all('Days')], [['old invoices'], ['365']]);
});

test('the owner finds keys that work, and usage of the account', { skip }, async () => {
  await goTo(page, 'Users and keys');
  await row(/dana/).first().waitFor();
  await goTo(page, 'Usage report');
  await waitForText(page, /^Capacity, /);
});
