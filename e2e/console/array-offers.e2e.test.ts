import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { makePool, orderArray } from '../block-array.ts';
import { adminPassword, startGranary } from '../granary.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText } from './browser.ts';
import { openPath, watchRequests } from './walking.ts';

/** Goal: an array's own console offers nothing that the array would refuse, and says why, while a page is open, too. */
const skip = await skipWithoutBrowser();

test('what is offered follows the lock of the array and what it was ordered with', { skip }, async (t) => {
  const granary = await startGranary(temporaryFolder(t));
  t.after(() => granary.kill());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const admin = await granary.admin();
  const { id: array_id, url, passcode } = await orderArray(admin, 'attic', { SSD_10GB: 2 });
  const { page } = await browser.person();
  await signIn(page, url, { username: 'admin', password: passcode });

  await goTo(page, 'Users');
  const newUser = page.getByRole('button', { name: 'New user' });
  await newUser.waitFor();
  await admin.arrays.lockDown({ array_id });
  await waitForText(page, /takes no change until an administrator releases it at the portal/);
  await newUser.waitFor({ state: 'detached' });
  await admin.arrays.release({ array_id });
  await newUser.waitFor();

  await goTo(page, 'File lifecycle');
  await waitForText(page, 'The array was ordered without file lifecycle');
  for (const name of ['New policy', 'When they run', 'New category'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await admin.arrays.enableFileLifecycle({ array_id });
  await page.getByRole('button', { name: 'New policy' }).waitFor();
});

test('an open form stays with what was typed while its array is locked, and while it restarts', { skip }, async (t) => {
  const granary = await startGranary(temporaryFolder(t));
  t.after(() => granary.kill());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const admin = await granary.admin();
  const { id: array_id, client } = await orderArray(admin, 'attic', { SSD_10GB: 2 });
  const { pool } = await makePool(client, 'main');
  const person = await browser.person();
  const { page } = person;
  watchRequests(page);
  await signIn(page, granary.url, { username: 'admin', password: adminPassword });
  await openPath(page, `/arrays/${array_id}/block/pools/${pool}`);
  await page.getByRole('button', { name: 'Expand' }).click();
  const dialog = page.getByRole('dialog');
  const capacity = dialog.getByRole('textbox', { name: 'Capacity to add' });
  const send = dialog.getByRole('button', { name: 'Expand' });
  await capacity.fill('3G');

  await admin.arrays.lockDown({ array_id });
  await dialog.getByRole('status').filter({ hasText: 'Locked down' }).waitFor();
  assert.deepEqual([await capacity.inputValue(), await send.isDisabled()], ['3G', true]);
  await admin.arrays.release({ array_id });
  await dialog.getByRole('status').waitFor({ state: 'detached' });

  // What reads the array meanwhile is refused; what is known of it stays.
  person.expectsProblem(/ 409| 5\d\d|net::|Failed to load resource/);
  const { pid } = (await granary.cloud().hostedArrays.list()).data[0] ?? {};
  process.kill(pid as number, 'SIGKILL');
  await page
    .getByText(/attic: starting|The array does not answer/)
    .first()
    .waitFor();
  await page.getByText('attic: starting').waitFor({ state: 'detached' });
  assert.deepEqual([await capacity.inputValue(), await send.isDisabled()], ['3G', false]);
});
