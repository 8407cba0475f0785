import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { S3Client } from '../../protocols/s3/testing/client.ts';
import { startGranary, type Granary } from '../granary.ts';
import { openAccount, orderObjects, type ObjectAccount, type OrderedObjects } from '../object-account.ts';
import { launchBrowser, signIn, skipWithoutBrowser, waitForText, type ConsoleBrowser } from './browser.ts';

/** Goal: a setting of a bucket that two people edit is never lost without somebody's say. */
const skip = await skipWithoutBrowser();
const MINIMUM = 'x-amz-transition-default-minimum-object-size';
const SPARES_SMALL = 'all_storage_classes_128K';
const RULES =
  '<LifecycleConfiguration><Rule><ID>old</ID><Filter><Prefix/></Filter><Status>Enabled</Status>' +
  '<Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>';

let folder: string;
let granary: Granary;
let objects: OrderedObjects;
let account: ObjectAccount;
let s3: S3Client;
let browser: ConsoleBrowser;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  objects = await orderObjects(await granary.admin(), 'attic', 2);
  account = await openAccount(objects, 'papers', 'dana');
  s3 = new S3Client(new URL(account.endpoint).origin, { access: account.accessKey, secret: account.secretKey });
  browser = await launchBrowser();
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

function put(path: string, query: Readonly<Record<string, string>>, body: string, headers = {}) {
  return s3.call('PUT', path, { query, body, headers });
}

function putTag(bucket: string, name: string) {
  return put(bucket, { tagging: '' }, `<Tagging><TagSet><Tag><Key>${name}</Key><Value/></Tag></TagSet></Tagging>`);
}

async function tagsOf(bucket: string): Promise<string[]> {
  return (await s3.call('GET', bucket, { query: { tagging: '' } })).all('Key');
}

function part(page: Page, name: string) {
  return page.getByRole('region', { name, exact: true });
}

/** The settings of a bucket that is new. */
async function openSettings(bucket: string) {
  await put(`/${bucket}`, {}, '');
  const person = await browser.person();
  await signIn(person.page, objects.url, { username: account.user, password: account.password, account: 'papers' });
  await person.page.goto(`${objects.url}/buckets/${bucket}/settings`);
  return person;
}

test('what was saved meanwhile is shown, and is loaded or overwritten as the person says', { skip }, async () => {
  const { page } = await openSettings('shared');
  const tags = part(page, 'Tags');
  await tags.getByRole('button', { name: 'Add a tag' }).click();
  await tags.getByLabel('Name of tag 1').fill('mine');
  await putTag('/shared', 'theirs');
  await tags.getByRole('button', { name: 'Save tags' }).click();
  const alert = tags.getByRole('alert').filter({ hasText: 'It was changed meanwhile' });
  await alert.getByText('theirs').waitFor();
  assert.deepEqual(await tagsOf('/shared'), ['theirs']);

  await alert.getByRole('button', { name: 'Back to my change' }).click();
  assert.equal(await tags.getByLabel('Name of tag 1').inputValue(), 'mine');
  await tags.getByRole('button', { name: 'Save tags' }).click();
  await alert.getByRole('button', { name: 'Overwrite it with my change' }).click();
  await waitForText(page, 'The tags are saved.');
  assert.deepEqual(await tagsOf('/shared'), ['mine']);

  await tags.getByLabel('Name of tag 1').fill('other');
  await putTag('/shared', 'latest');
  await tags.getByRole('button', { name: 'Save tags' }).click();
  await alert.getByRole('button', { name: 'Load it and drop my change' }).click();
  await alert.waitFor({ state: 'detached' });
  assert.equal(await tags.getByLabel('Name of tag 1').inputValue(), 'latest');
  assert.deepEqual(await tagsOf('/shared'), ['latest']);
});

test('a dialog and a switch, too, overwrite nothing that was not seen', { skip }, async () => {
  const { page } = await openSettings('watched');
  const cors = part(page, 'CORS');
  await cors.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('dialog').getByLabel('Origins').fill('https://mine.example.org');
  const rule = '<AllowedMethod>GET</AllowedMethod><AllowedOrigin>https://theirs.example.org</AllowedOrigin>';
  await put('/watched', { cors: '' }, `<CORSConfiguration><CORSRule>${rule}</CORSRule></CORSConfiguration>`);
  await page.getByRole('dialog').getByRole('button', { name: 'Save rule' }).click();
  await cors.getByRole('button', { name: 'Load it and drop my change' }).click();
  await cors.getByRole('cell', { name: 'https://theirs.example.org' }).waitFor();

  const versioning = part(page, 'Versioning');
  const suspended = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>';
  await put('/watched', { versioning: '' }, suspended);
  await versioning.getByRole('switch').click();
  await versioning.getByRole('button', { name: 'Keep it' }).click();
  await versioning.getByText('It was on: old versions of that time are still there.').waitFor();
});

/** What is typed stays, and is refused in words. */
const NO_DAYS = [
  ['0', 'Must be at least 1.'],
  ['-1', 'Must be at least 1.'],
  ['1e9', 'Must be a whole number, in digits.'],
] as const;

test('rules that are saved keep from which size on objects are moved', { skip }, async () => {
  await put('/moved', {}, '');
  await put('/moved', { lifecycle: '' }, RULES, { [MINIMUM]: SPARES_SMALL });
  const { page } = await openSettings('moved');
  const lifecycle = part(page, 'Lifecycle');
  await lifecycle.getByRole('button', { name: 'Change old' }).click();
  const days = page.getByRole('dialog').getByLabel('Delete objects after');
  for (const [typed, problem] of NO_DAYS) {
    await days.fill(typed);
    await days.blur();
    await page.getByRole('dialog').getByText(problem).waitFor();
    assert.equal(await days.inputValue(), typed);
  }
  await days.fill('60');
  await page.getByRole('dialog').getByRole('button', { name: 'Save rule' }).click();
  await lifecycle.getByRole('cell', { name: 'deletes objects after 60 days' }).waitFor();
  const kept = await s3.call('GET', '/moved', { query: { lifecycle: '' } });
  assert.equal(kept.headers[MINIMUM], SPARES_SMALL);
  await lifecycle.getByRole('button', { name: 'Remove old' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await lifecycle.getByRole('button', { name: 'Remove old' }).click();
  await page.getByRole('dialog', { name: 'Remove old?' }).getByRole('button', { name: 'Remove' }).click();
  await lifecycle.getByText('There are no rules').waitFor();
});

test('what was typed when the session ended is there for the same person', { skip }, async () => {
  const person = await openSettings('kept');
  const { page } = person;
  person.expectsProblem(/answered with 401/);
  await part(page, 'Lifecycle').getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('half a rule');
  await page.context().clearCookies();
  await page.getByRole('dialog').getByLabel('Delete objects after').fill('7');
  await page.getByRole('dialog').getByRole('button', { name: 'Save rule' }).click();
  await page.getByLabel('User name').fill(account.user);
  await page.getByRole('textbox', { name: 'Password' }).fill(account.password);
  await page.getByLabel('Account').fill('papers');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'half a rule');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await part(page, 'Lifecycle').getByRole('cell', { name: 'half a rule', exact: true }).waitFor();
});
