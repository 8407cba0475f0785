import { join } from 'node:path';
import type { Page } from 'playwright-core';

const FOLDER = join(import.meta.dirname, '../../docs/images');

/** Whether this run makes the pictures of the guides anew. */
const makesPictures = process.env['GRANARY_SCREENSHOTS'] === '1';

/** A picture of what is shown, for the guides; ordinary runs make none. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!makesPictures) return;
  await dismissMessages(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `console-${name}.png`), animations: 'disabled', caret: 'hide' });
}

/** Messages of what was done before would cover what the picture is about. */
async function dismissMessages(page: Page): Promise<void> {
  const buttons = page.getByRole('button', { name: 'Dismiss' });
  while ((await buttons.count()) > 0) {
    const before = await buttons.count();
    await buttons.first().click();
    await buttons.nth(before - 1).waitFor({ state: 'detached' });
  }
}
