import type { Locator, Page } from 'playwright-core';
import { settled } from './walking.ts';

/** What a page offers to do: the operation of each button and of each item of a menu. */
export interface Offer {
  /** `array volumes.create`. */
  readonly operation: string;
  readonly label: string;
  /** What it is done to, where the contract lets only its creator do that. */
  readonly record: string | undefined;
  /** Opens its dialog. */
  open(): Promise<Locator>;
}

const MENU = 'main button[aria-haspopup="menu"]';
const BUTTON = 'main button[data-operation]';

/** Everything that the open page offers at its buttons and in its menus; each menu is opened and closed again. */
export async function offersOf(page: Page): Promise<readonly Offer[]> {
  const offers: Offer[] = [];
  for (const button of await page.locator(`${BUTTON}:visible`).all()) offers.push(await offerOf(page, button));
  for (const menu of await page.locator(`${MENU}:visible`).all()) {
    await menu.click();
    await page.getByRole('menu').waitFor();
    for (const item of await page.getByRole('menuitem').all()) offers.push(await offerOf(page, item, menu));
    await closeTop(page, page.getByRole('menu'));
  }
  return offers;
}

async function offerOf(page: Page, button: Locator, menu?: Locator): Promise<Offer> {
  const operation = (await button.getAttribute('data-operation')) ?? '';
  const label = (await button.textContent()) ?? '';
  const record = (await button.getAttribute('data-record')) ?? undefined;
  return {
    operation,
    record,
    label,
    async open() {
      await menu?.click();
      if (menu) await page.getByRole('menuitem', { name: label, exact: true }).click();
      else await button.click();
      const dialog = page.getByRole('dialog').filter({ has: page.locator('form, button') });
      await dialog.waitFor();
      await settled(page);
      return dialog;
    },
  };
}

/** Closes what lies on top by the keyboard, as everything that opens can be closed. */
export async function closeTop(page: Page, top: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await top.waitFor({ state: 'detached' });
  await settled(page);
}
