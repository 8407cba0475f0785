import assert from 'node:assert/strict';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { Disk, randomBuffer, signInTo } from '../block-array.ts';
import { adminPassword, startGranary } from '../granary.ts';
import { goTo, launchBrowser, orderArray, signIn, signOut, skipWithoutBrowser, waitForText } from './browser.ts';
import { picture } from './screenshots.ts';

const skip = await skipWithoutBrowser();
const STORY_MS_MAX = 600_000;
const GLANCE_MS = 1_000;
const CUSTOMER = { username: 'maria', password: 'a customer password' };
const OPERATOR = { username: 'admin', password: adminPassword };
/** So that the operator has more than one to look at. */
const SECOND = { name: 'archive', provider: 'local', engine: 'engine_small', drives: { SSD_10GB: 2 } };
const INITIATOR = 'iqn.2026-11.org.example:desk';
/** A percent of a drive is 100 MB: a rebuild of these takes some seconds at this speed, and passes several percent. */
const WRITTEN_MEGABYTES = 240;
const REBUILD_MB_A_SECOND = 25;

/**
 * Goal: an array from the order to a rebuild, by what people see and press.
 *
 * Method: a customer orders, the operator approves, the customer builds on it. No page is loaded a second time: what
 * changes while it is shown has to come by itself.
 */
test(
  'an array is ordered, approved, filled and repaired in the console',
  { skip, timeout: STORY_MS_MAX },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const granary = await startGranary(dataDir);
    t.after(() => granary.kill());
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const admin = await granary.admin();
    await admin.users.create(CUSTOMER);
    const { page } = await browser.person();
    const { page: operator } = await browser.person();

    await signIn(page, granary.url, CUSTOMER);
    let loads = 0;
    page.on('load', () => (loads += 1));
    t.diagnostic('a customer orders, the operator approves');
    await orderArray(page, {
      name: 'ledger',
      kind: 'Disks and file shares',
      drives: { '10 GiB SSD': 4 },
      options: { 'Make pools at once': false },
      onPrice: async () => {
        await waitForText(page, '0.068 USD per hour');
        await picture(page, 'order');
      },
    });
    await waitForText(page, 'Waiting for an administrator to approve');
    await signIn(operator, granary.url, OPERATOR);
    await approve(operator);
    await page.getByRole('link', { name: 'Open the array' }).click();

    t.diagnostic('a volume is made and attached');
    await makeVolume(page);
    await attachToDesk(page);
    await takeSnapshot(page, 'before the move');
    const { client } = await signInTo(admin, 'ledger', CUSTOMER.username);
    const [volume] = (await client.volumes.list()).volumes;
    assert.ok(volume);
    await new Disk(client, INITIATOR, volume.name).write(0, randomBuffer(WRITTEN_MEGABYTES));
    await picture(page, 'volume');
    await goTo(page, 'Performance');
    await picture(page, 'performance');

    t.diagnostic('a drive is lost and rebuilt');
    await admin.arrays.create({ ...SECOND, moderate: false });
    await limitRebuild(page);
    await loseDrive(page, dataDir, 'ssd-1');
    await goTo(page, 'Overview');
    await page.getByRole('link', { name: /^Drive ssd-1 has failed/ }).waitFor();
    await goTo(operator, 'Overview');
    await operator.getByRole('link', { name: /^Drive ssd-1 in RAID group pair has failed/ }).waitFor();
    await picture(operator, 'overview');
    await watchRebuild(page);
    await goTo(page, 'Overview');
    await page.getByRole('link', { name: /^RAID group pair, RAID1, Normal/ }).waitFor();
    await picture(page, 'array');

    t.diagnostic('every page is found by its name');
    await page.keyboard.press('Control+KeyK');
    await page.getByRole('combobox', { name: 'Search' }).fill('bill');
    await page
      .getByRole('option', { name: /^Overview/ })
      .first()
      .waitFor({ state: 'detached' });
    await page.getByRole('option', { name: /^Billing/ }).waitFor();
    await picture(page, 'palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    assert.equal(loads, 0, 'no page was loaded again');
    await signOut(page);
  },
);

async function approve(page: Page): Promise<void> {
  await goTo(page, 'Requests');
  await page
    .getByRole('row', { name: /ledger/ })
    .getByRole('button', { name: 'Approve' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await waitForText(page, 'No request is pending.');
}

/** From free drives to a volume, by the button that each page offers as the next step. */
async function makeVolume(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  const make = async (what: string, name: string, fill?: () => Promise<void>) => {
    await page
      .getByRole('button', { name: `New ${what}` })
      .first()
      .click();
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await fill?.();
    await dialog.getByRole('button', { name: `New ${what}` }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  await make('RAID group', 'pair');
  await make('pool', 'fast');
  await make('volume', 'books', () => dialog.getByRole('textbox', { name: 'Size' }).fill('2G'));
}

/** On the volume's page, where the commands for the server are shown then. */
async function attachToDesk(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New server' }).click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('desk');
  await dialog.getByRole('textbox', { name: 'iSCSI initiator name' }).fill(INITIATOR);
  await dialog.getByRole('button', { name: 'New server' }).click();
  await page.getByRole('button', { name: 'Attach to servers' }).first().click();
  await dialog.getByRole('checkbox', { name: /^desk/ }).check();
  await dialog.getByRole('button', { name: 'Attach to servers' }).click();
  await waitForText(page, /iscsiadm -m discovery -t sendtargets/);
}

async function takeSnapshot(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Take a snapshot' }).first().click();
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByRole('row', { name: new RegExp(name) }).waitFor();
}

async function openGroup(page: Page): Promise<void> {
  await goTo(page, 'RAID groups');
  await page.getByRole('link', { name: 'pair' }).click();
  await page.getByRole('heading', { level: 1, name: 'pair' }).waitFor();
}

/** Slow enough to be watched, whether servers work or not. */
async function limitRebuild(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await openGroup(page);
  await page.getByRole('button', { name: 'Rebuild speed' }).click();
  for (const label of ['While servers work, MiB/s', 'Otherwise, MiB/s'])
    await dialog.getByRole('textbox', { name: label }).fill(String(REBUILD_MB_A_SECOND));
  await dialog.getByRole('button', { name: 'Rebuild speed' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The drive's page says which file the drive is; it shows the loss by itself. */
async function loseDrive(page: Page, dataDir: string, drive: string): Promise<void> {
  await page.getByRole('link', { name: drive }).click();
  const uuid = await page.getByText(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/).innerText();
  const all = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const file = join(dataDir, all.find((name) => name.endsWith(`${uuid}.drive`)) ?? uuid);
  renameSync(file, `${file}.away`);
  await page.getByRole('definition').filter({ hasText: 'Failed' }).waitFor();
}

/** Gives the group a spare, then looks on: the bar moves on the open page until the group is whole again. */
async function watchRebuild(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await openGroup(page);
  await page.getByRole('definition').filter({ hasText: 'Degraded' }).waitFor();
  await page.getByRole('button', { name: 'Add a spare' }).click();
  await dialog.getByRole('combobox', { name: 'Drive' }).click();
  await page.getByRole('option', { name: /^ssd-3/ }).click();
  await dialog.getByRole('button', { name: 'Add a spare' }).click();
  const bar = page.getByRole('definition').getByRole('progressbar', { name: 'Recovering' });
  await bar.waitFor();
  await picture(page, 'rebuild');
  const seen = new Set<string>();
  await until(async () => {
    if ((await bar.count()) === 0) return true;
    // It may be gone by now: the next round sees that.
    const value = await bar.getAttribute('aria-valuenow', { timeout: GLANCE_MS }).catch(() => null);
    if (value !== null) seen.add(value);
    return false;
  }, 'the end of the rebuild');
  assert.ok(seen.size >= 2, `the bar moved: ${[...seen].join(', ')}`);
  await page.getByRole('definition').filter({ hasText: 'Normal' }).waitFor();
}
