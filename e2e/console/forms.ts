import type { Locator, Page } from 'playwright-core';

/** Fills the form that is open. */
export type Fill = (dialog: Locator) => Promise<void>;

interface FormOptions {
  /** The button that sends the form, where it is named otherwise than what opened it. */
  readonly send?: string;
  /** Whose menu has the action; without it, it is a button of the page. */
  readonly of?: string;
}

/** Opens the form of an action, fills it and sends it; the form is gone when it returns. */
export async function act(
  page: Page,
  label: string,
  fill?: Fill,
  { of, send = label }: FormOptions = {},
): Promise<void> {
  const dialog = await openForm(page, label, of);
  await fill?.(dialog);
  await dialog.getByRole('button', { name: send, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** Opens the form of an action, by its button or in the menu of a record. */
export async function openForm(page: Page, label: string, of?: string): Promise<Locator> {
  if (of === undefined) await page.getByRole('main').getByRole('button', { name: label, exact: true }).first().click();
  else await chooseItem(page, `Actions of ${of}`, label);
  return page.getByRole('dialog');
}

/** An item of the menu behind a button. */
export async function chooseItem(page: Page, menu: string, label: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click();
  await page.getByRole('menuitem', { name: label, exact: true }).click();
}

/** Chooses from the list behind a field. */
export async function choose(within: Locator, field: string, option: string | RegExp): Promise<void> {
  await within.getByRole('combobox', { name: field }).click();
  await within.page().getByRole('option', { name: option }).first().click();
}

/** The file that the browser saves. */
export async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const download = page.waitForEvent('download');
  await press();
  return (await download).path();
}
