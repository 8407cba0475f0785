import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { builtConsole } from '../../console/build.ts';
import { startTestPortal } from '../../portal/testing/portal.ts';
import { launchBrowser, signIn, skipWithoutBrowser } from './browser.ts';

/**
 * Goal: a session ends when nobody is there, though the page goes on reading; before, the page says so, and a key keeps it.
 * Method: a portal in this process, whose clock the test moves, and a page whose clock the browser moves.
 */
const MINUTE = 60_000;
const skip = await skipWithoutBrowser();

test('a page that nobody uses is signed out, and says so before', { skip }, async (t) => {
  const clock = new ManualClock('2026-11-01T12:00:00Z');
  const portal = await startTestPortal({ clock, consoleFolder: await builtConsole() });
  t.after(() => portal.stop());
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const person = await browser.person();
  const { page } = person;
  person.expectsProblem(/answered with 401/);
  await page.clock.install();
  await signIn(page, portal.url, portal.admin);
  const warning = page.getByRole('alert').filter({ hasText: 'You will be signed out soon' });
  assert.equal(await warning.count(), 0);

  clock.advance(29 * MINUTE);
  await page.clock.fastForward(29 * MINUTE);
  await warning.waitFor();
  const kept = page.waitForResponse((response) => response.url().endsWith('/api/sessions/current'));
  await page.keyboard.press('Shift');
  await kept;
  await warning.waitFor({ state: 'detached' });

  // What the page reads by itself in the next half hour keeps nothing.
  await page.clock.fastForward(2 * MINUTE);
  clock.advance(29 * MINUTE);
  await page.evaluate(() => fetch('/api/overview', { headers: { 'x-unattended': '1' } }));
  await portal.services.sessions.sweep();
  assert.equal(await page.getByRole('navigation', { name: 'Pages' }).count(), 1);
  clock.advance(2 * MINUTE);
  await portal.services.sessions.sweep();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.getByText('You were signed out').waitFor();
});
