import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testArray } from '../../array/testing/test-array.ts';
import { builtConsole } from '../../console/build.ts';
import { goTo, launchBrowser, signIn, skipWithoutBrowser, waitForText } from './browser.ts';

/**
 * Goal: an array's own console offers nothing that the array would refuse, and says why.
 * Method: an array in this process, whose cloud changes what it takes while a page is open.
 */
const skip = await skipWithoutBrowser();
const OWNER = { username: 'dana', password: 'first passcode' };

test('what a locked array offers follows the lock while the page is open', { skip }, async (t) => {
  const array = await testArray(t, { consoleFolder: await builtConsole() });
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const { page } = await browser.person();
  await signIn(page, array.configuration.managementUrl, OWNER);
  await goTo(page, 'Users');
  const offered = page.getByRole('button', { name: 'New user' });
  await offered.waitFor();
  await array.change({ lockedDown: true });
  await waitForText(page, /takes no change until an administrator releases it at the portal/);
  await offered.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: /^Actions of / }).count(), 0);
  await array.change({ lockedDown: false });
  await offered.waitFor();
});
