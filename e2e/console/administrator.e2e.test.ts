import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { makePool, orderArray, type Ordered } from '../block-array.ts';
import { until } from '../../testing/waiting.ts';
import { adminPassword, startGranary, type Granary } from '../granary.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText, type ConsoleBrowser } from './browser.ts';
import { act, choose, openForm, type Fill } from './forms.ts';

/** Goal: what the administrator of a block array does day by day, by what is pressed; the API says whether it was done. */
const skip = await skipWithoutBrowser();

let folder: string;
let granary: Granary;
let browser: ConsoleBrowser;
let ordered: Ordered;
let page: Page;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  granary = await startGranary(folder);
  ordered = await orderArray(await granary.admin(), 'ledger', { SSD_10GB: 6 });
  const { client } = ordered;
  await client.settings.update({ recycle_bin: true });
  const { pool } = await makePool(client, 'fast');
  await makePool(client, 'slow');
  await client.volumes.create({ name: 'books', capacity: 1024, pool });
  await client.volumes.create({ name: 'papers', capacity: 1024, pool, block: false, export_name: 'papers' });
  await client.servers.create({ display_name: 'desk', iqn: 'iqn.2026-11.org.example:desk' });
  browser = await launchBrowser();
  ({ page } = await browser.person());
  await signIn(page, granary.url, { username: 'admin', password: adminPassword });
});

after(async () => {
  if (skip !== false) return;
  try {
    await browser.close();
  } finally {
    await granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

async function openPage(path: string, heading: string): Promise<void> {
  await page.goto(`${granary.url}/arrays/${ordered.id}/block/${path}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
}

async function volumeNamed(name: string) {
  const found = (await ordered.client.volumes.list()).volumes.find(({ display_name: title }) => title === name);
  assert.ok(found, `there is a volume ${name}`);
  return found;
}

async function openVolume(name: string): Promise<void> {
  await openPage(`volumes/${(await volumeNamed(name)).name}`, name);
}

/** An action of the record whose page is open: a button, or an item of the menu behind "More". */
async function openAction(label: string): Promise<Locator> {
  const main = page.getByRole('main');
  const button = main.getByRole('button', { name: label, exact: true }).first();
  const more = main.getByRole('button', { name: 'More', exact: true }).first();
  await button.or(more).first().waitFor();
  if ((await button.count()) > 0) await button.click();
  else {
    await more.click();
    await page.getByRole('menuitem', { name: label, exact: true }).click();
  }
  return page.getByRole('dialog');
}

async function actOnPage(label: string, fill?: Fill): Promise<void> {
  const dialog = await openAction(label);
  await fill?.(dialog);
  await dialog.getByRole('button', { name: label, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

test('limits of a volume start with what is set, and only what was changed is sent', { skip }, async () => {
  const { name } = await volumeNamed('books');
  await ordered.client.volumes.update({ id: name, read_iops_capping: 700, compress: true });
  await openVolume('books');
  await actOnPage('Options and limits', async (dialog) => {
    assert.equal(await dialog.getByLabel('Read IOPS limit').inputValue(), '700');
    await dialog.getByLabel('Write IOPS limit').fill('300');
    // Meanwhile somebody else changes another.
    await ordered.client.volumes.update({ id: name, read_iops_capping: 900 });
  });
  const { volume } = await ordered.client.volumes.get({ id: name });
  const { read_iops_capping: reads, write_iops_capping: writes, compress } = volume;
  assert.deepEqual([reads, writes, compress], ['900', '300', 'YES']);
});

test('a volume is attached by the keyboard alone, and its commands are shown', { skip }, async () => {
  await openVolume('books');
  const press = async (key: string) => page.keyboard.press(key);
  await page.getByRole('button', { name: 'Attach to servers' }).first().focus();
  await press('Enter');
  const dialog = page.getByRole('dialog');
  const server = dialog.getByRole('checkbox', { name: /^desk/ });
  await server.waitFor();
  await server.focus();
  if (!(await server.isChecked())) await press('Space');
  const send = dialog.getByRole('button', { name: 'Attach to servers' });
  await until(async () => {
    await press('Tab');
    return send.evaluate((button) => button === document.activeElement);
  }, 'Tab reaches the button');
  await press('Enter');
  await waitForText(page, /iscsiadm -m discovery -t sendtargets/);
  assert.equal((await volumeNamed('books')).status, 'In-use');
});

test('a snapshot is taken, and a clone of it made from the time line', { skip }, async () => {
  await openVolume('books');
  await page.getByRole('button', { name: 'Take a snapshot' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('monday');
  await dialog.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByRole('button', { name: /^monday, / }).click();
  await page.getByRole('button', { name: 'Clone to a new volume', exact: true }).first().click();
  await dialog.getByRole('textbox', { name: 'Name of the new volume' }).fill('books of monday');
  await dialog.getByRole('button', { name: 'Clone to a new volume' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await until(
    async () =>
      (await ordered.client.volumes.list()).volumes.some(({ display_name: name }) => name === 'books of monday'),
    'the clone is there',
  );
});

test('a volume moves to another pool and says so', { skip }, async () => {
  await openVolume('books');
  await actOnPage('Migrate', (dialog) => choose(dialog, 'To the pool', /^slow/));
  await until(async () => (await volumeNamed('books')).pool_display_name === 'slow', 'the volume is in the other pool');
  await page.getByRole('link', { name: 'slow' }).waitFor();
});

test('a deleted volume comes back by Undo', { skip }, async () => {
  const { pool_name: pool } = await volumeNamed('papers');
  await ordered.client.volumes.create({ name: 'draft', capacity: 1024, pool });
  await openVolume('draft');
  await actOnPage('Delete', (dialog) => dialog.getByLabel(/^Type draft/).fill('draft'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await waitForText(page, 'draft is back with its data.');
  await volumeNamed('draft');
});

test('a quota of a user is set and shown', { skip }, async () => {
  await openVolume('papers');
  const { name } = await volumeNamed('papers');
  await ordered.client.quotas.setState({ id: name, uquota: 'on' });
  const quotas = page.getByRole('region', { name: 'Quotas' });
  await quotas.getByText(/^They are on/).waitFor();
  await act(
    page,
    'Set a quota',
    async (dialog) => {
      await dialog.getByRole('textbox', { name: /of the user$/ }).fill('1001');
      await dialog.getByRole('textbox', { name: /^Limit/ }).fill('0.5');
    },
    { send: 'Set the quota' },
  );
  await quotas.getByRole('row', { name: /512 MiB/ }).waitFor();
});

test('a snapshot policy is made and attached; its schedule is said in words', { skip }, async () => {
  await openPage('policies', 'Snapshot policies');
  await act(page, 'New policy', async (dialog) => {
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('nightly');
    await dialog.getByRole('textbox', { name: 'When' }).fill('0 2 * * *');
  });
  await page
    .getByRole('row', { name: /nightly/ })
    .getByText(/02:00/)
    .first()
    .waitFor();
});

test('a user is added and signs in to the array; it may not change what others made', { skip }, async () => {
  await openPage('users', 'Users');
  const added = { username: 'joan', password: 'Orange-kettle-41' };
  const dialog = await openForm(page, 'New user');
  await dialog.getByRole('textbox', { name: 'Username' }).fill(added.username);
  await dialog.getByRole('textbox', { name: 'Password' }).fill(added.password);
  await dialog.getByRole('textbox', { name: 'Email' }).fill('joan@example.org');
  await dialog.getByRole('button', { name: 'New user' }).click();
  // What is shown this once stays until it is closed.
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('row', { name: /joan/ }).waitFor();
  const { page: own } = await browser.person();
  await signIn(own, ordered.url, added);
  await goTo(own, 'Volumes and shares');
  await own.getByRole('link', { name: 'papers' }).first().click();
  await own.getByRole('heading', { level: 1, name: 'papers' }).waitFor();
  assert.equal(await own.getByRole('button', { name: 'Set a quota' }).count(), 0);
});

test('a drive is taken out of service and put back', { skip }, async () => {
  const [free] = (await ordered.client.drives.listFree()).disks;
  assert.ok(free);
  const status = async () => (await ordered.client.drives.get({ id: free.name })).disk.status;
  await openPage(`drives/${free.name}`, free.display_name);
  await actOnPage('Take out of service');
  const state = page.getByRole('definition').filter({ hasText: /^(Absent|Failed)$/ });
  await state.waitFor();
  assert.notEqual(await status(), free.status);
  await actOnPage('Put back into service');
  await state.waitFor({ state: 'detached' });
  assert.equal(await status(), free.status);
});
