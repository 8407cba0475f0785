import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { portalClient, type PortalClient } from '@granary/client';
import { isSigned, startReceiver } from '../../kernel/webhooks/testing/receiver.ts';
import { readBill } from '../../portal/billing/testing/read-bill.ts';
import { until } from '../../testing/waiting.ts';
import { adminPassword, startGranary, type Granary } from '../granary.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText, type ConsoleBrowser } from './browser.ts';
import { act, chooseItem, openForm, saved } from './forms.ts';

/** Goal: what only an operator does, by what the operator presses; the API says whether it was done. */
const skip = await skipWithoutBrowser();
const OPERATOR = { username: 'admin', password: adminPassword };
const CUSTOMER = { username: 'maria', password: 'a customer password' };
const ARRAY = { provider: 'local', engine: 'engine_small', drives: { SSD_10GB: 2 } };
const ARRAYS = ['ledger', 'archive', 'scratch'];
const REASON = 'The budget of this quarter is used up.';
const DRIVE_KEY = 'SSD_10GB';
/** Nine hours ahead of UTC all year: what a person types as a day and a time is of this zone. */
const ZONE = { timezoneId: 'Asia/Tokyo' };

let folder: string;
let granary: Granary;
let browser: ConsoleBrowser;
let admin: PortalClient;
/** The operator's page: one for all tests, as one is for a day. */
let page: Page;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  admin = await granary.admin();
  await admin.users.create(CUSTOMER);
  for (const name of ARRAYS) await admin.arrays.create({ name, moderate: false, ...ARRAY });
  browser = await launchBrowser();
  const person = await browser.person(ZONE);
  // A wrong price file is refused.
  person.expectsProblem(/POST \/api\/pricing was answered with 400/);
  page = person.page;
  await signIn(page, granary.url, OPERATOR);
});

beforeEach(async () => {
  if (skip === false) await page.goto(granary.url);
});

after(async () => {
  if (skip !== false) return;
  try {
    // Before the service stops: pages that are open would say so.
    await browser.close();
  } finally {
    await granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

/** The page of somebody who signs in with this password. */
async function pageOf(user: typeof CUSTOMER): Promise<Page> {
  const { page: own } = await browser.person();
  await signIn(own, granary.url, user);
  return own;
}

async function clientOf(user: typeof CUSTOMER): Promise<PortalClient> {
  const { token } = (await portalClient({ url: granary.url }).tokens.get(user)).data;
  return portalClient({ url: granary.url, token });
}

async function statusOf(name: string): Promise<string | undefined> {
  return (await admin.arrays.list({ name })).data[0]?.status;
}

test('a request is denied with a reason, and who asked reads it', { skip }, async () => {
  const customer = await clientOf(CUSTOMER);
  await customer.arrays.create({ name: 'wish', ...ARRAY });
  const asking = await pageOf(CUSTOMER);
  await goTo(asking, 'Requests');
  await asking.getByRole('row', { name: /wish/ }).waitFor();
  await goTo(page, 'Requests');
  await act(page, 'Deny', (dialog) => dialog.getByLabel('Reason').fill(REASON));
  await waitForText(page, 'No request is pending.');
  await asking.getByText('Denied', { exact: true }).click();
  await asking.getByRole('row', { name: /wish/ }).getByText(REASON).filter({ visible: true }).waitFor();
  const [request] = (await customer.arrayRequests.list({ status: 'denied' })).data;
  assert.deepEqual([request?.name, request?.reason], ['wish', REASON]);
});

test('a user who is added signs in with that password', { skip }, async () => {
  const added = { username: 'joan', password: 'Orange-kettle-41' };
  await goTo(page, 'Users');
  await act(page, 'New user', async (dialog) => {
    await dialog.getByLabel('User name').fill(added.username);
    await dialog.getByRole('textbox', { name: 'Password' }).fill(added.password);
  });
  await page.getByRole('row', { name: /joan/ }).waitFor();
  const own = await pageOf(added);
  await own.getByRole('button', { name: /^Signed in as joan/ }).waitFor();
  assert.equal((await (await clientOf(added)).me.get()).data.role, 'user');
});

test('a hidden provider is not offered to users', { skip }, async () => {
  await admin.providers.create({ name: 'Second shelf', key: 'second', cloud_id: 1, enabled: true });
  const own = await pageOf(CUSTOMER);
  const offered = async () => {
    await own.goto(`${granary.url}/arrays/new`);
    await own.getByRole('combobox', { name: 'Where' }).click();
    return own.getByRole('option').allInnerTexts();
  };
  assert.ok((await offered()).includes('Second shelf'));
  await goTo(page, 'Providers');
  await act(page, 'Change', (dialog) => dialog.getByLabel('Hidden from lists of users').check(), {
    of: 'Second shelf',
  });
  await page.getByRole('row', { name: /Second shelf hidden/ }).waitFor();
  const names = await offered();
  assert.ok(names.length > 0 && !names.includes('Second shelf'), names.join());
});

test('a price file is refused in words and then taken; the history has both prices', { skip }, async () => {
  await goTo(page, 'Prices');
  const upload = async (price: string) => {
    const buffer = Buffer.from(`kind,key,hourly_price_usd\ndrive,${DRIVE_KEY},${price}\n`);
    const dialog = page.getByRole('dialog');
    const chooser = page.waitForEvent('filechooser');
    await dialog.getByRole('button', { name: /^Price file/ }).click();
    await (await chooser).setFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer });
    await dialog.getByRole('button', { name: 'Upload a price file' }).click();
  };
  const dialog = await openForm(page, 'Upload a price file');
  await dialog.getByRole('checkbox').first().check();
  await upload('cheap');
  await dialog.getByText(/Row 2: hourly_price_usd is "cheap"/).waitFor();
  await upload('0.123');
  await dialog.waitFor({ state: 'hidden' });
  const row = page.getByRole('row', { name: new RegExp(DRIVE_KEY) });
  await row.getByText('0.123').waitFor();
  await row.getByRole('button', { name: '2 prices' }).click();
  const list = dialog.getByRole('table').filter({ has: page.getByRole('columnheader', { name: 'State' }) });
  await list.waitFor();
  const shown = await list.locator('tbody tr').allInnerTexts();
  assert.equal(shown.length, 2);
  assert.match(shown[0] ?? '', /0\.123.*present/s);
  assert.match(shown[1] ?? '', /past/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
});

test('a price of a later day is planned', { skip }, async () => {
  await goTo(page, 'Prices');
  const row = page.getByRole('row', { name: new RegExp(DRIVE_KEY) });
  await row.getByRole('button', { name: 'Set the price' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('USD per hour').fill('0.5');
  await dialog.getByRole('radio', { name: 'Later' }).check();
  const [day = ''] = new Date(Date.now() + 40 * 86_400_000).toISOString().split('T');
  await dialog.getByLabel('Day and time').fill(`${day}T09:30`);
  await dialog.getByRole('button', { name: 'Set the price' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await row.getByRole('cell', { name: /^0\.5 ?from/ }).waitFor();
  const { data } = await admin.pricing.list({ provider_id: 1 });
  const planned = data.filter(({ key, state }) => key === DRIVE_KEY && state === 'planned');
  assert.deepEqual(
    planned.map(({ hourly_price_usd: price, effective_from: from }) => [price, Date.parse(from)]),
    [['0.5', Date.parse(`${day}T00:30Z`)]],
  );
});

test('a webhook is added and tested, and its delivery is shown', { skip }, async (t) => {
  const receiver = await startReceiver(t);
  await goTo(page, 'Webhooks');
  const dialog = await openForm(page, 'New webhook');
  await dialog.getByLabel('Name').fill('on-call');
  await dialog.getByLabel('Address').fill(receiver.url);
  await dialog.getByRole('button', { name: 'New webhook' }).click();
  await dialog.getByText('Copy it now').waitFor();
  const secret = await dialog.getByRole('group', { name: 'Secret' }).locator('pre').innerText();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await openForm(page, 'Send a test', 'on-call');
  await dialog.getByRole('button', { name: 'Send a test' }).click();
  await dialog.getByRole('definition').filter({ hasText: /^200$/ }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const [posted] = receiver.posted;
  assert.ok(posted && isSigned(posted, secret), 'the delivery is signed with the secret that was shown');
  await page.getByRole('row', { name: new RegExp(`^on-call ${new URL(receiver.url).origin}.* enabled`) }).waitFor();
  await chooseItem(page, 'Actions of on-call', 'Delete');
  await dialog.getByLabel(/^Type on-call/).fill('on-call');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await waitForText(page, 'There are no webhooks yet.');
});

test('a setting of the portal is changed', { skip }, async () => {
  await goTo(page, 'Settings');
  await page
    .locator('.mantine-Card-root', { has: page.getByRole('heading', { name: 'Recycle bin of arrays' }) })
    .getByRole('button', { name: 'Change' })
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Hours in which a deleted array can be undeleted').fill('48');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('definition').filter({ hasText: '48' }).waitFor();
  assert.equal((await admin.settings.getArrayRetention()).retention_hours, 48);
});

test('three arrays are hibernated at once, with a result for each, and one is restored', { skip }, async () => {
  for (const name of ARRAYS) await until(async () => (await statusOf(name)) === 'created', `${name} is created`);
  await goTo(page, 'Arrays');
  await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
  await page.getByRole('button', { name: 'Hibernate', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Hibernate', exact: true }).click();
  await dialog.getByText('3 done, 0 refused, 0 to go').waitFor();
  const results = await dialog.getByRole('listitem').allInnerTexts();
  assert.deepEqual(results.toSorted(), ['archive: done', 'ledger: done', 'scratch: done']);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('row', { name: /ledger hibernated/ }).waitFor();
  await page.getByRole('link', { name: 'ledger' }).click();
  await waitForText(page, /^It is stopped and keeps its data/);
  await act(page, 'Restore');
  await page.getByRole('link', { name: 'Open the array' }).waitFor();
  assert.deepEqual(await Promise.all(ARRAYS.map(statusOf)), ['created', 'hibernated', 'hibernated']);
});

test('the bill that the browser saves opens and has its tables', { skip }, async () => {
  await goTo(page, 'Billing');
  await page.getByRole('row', { name: /^ledger/ }).waitFor();
  const file = await saved(page, () => page.getByRole('link', { name: 'Download the bill' }).click());
  const bill = readBill(readFileSync(file));
  assert.deepEqual(new Set(bill.arrays.map(({ array }) => array)), new Set(ARRAYS));
  assert.ok(bill.items.length > ARRAYS.length && bill.summary.length > 0);
});
