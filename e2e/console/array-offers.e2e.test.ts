import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { orderArray } from '../block-array.ts';
import { startGranary } from '../granary.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText } from './browser.ts';

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
