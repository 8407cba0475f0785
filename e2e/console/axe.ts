import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that depend on which of the two colour schemes is shown. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Puts axe into every page of the context; the page's own policy does not hold for what a test brings. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript(SCRIPT);
}

/** Serious and critical problems of what is shown, in words. `within` is a selector. */
export async function seriousProblems(page: Page, within = 'html', only: 'all' | 'colours' = 'all'): Promise<string[]> {
  const violations = await page.evaluate(
    async ([selector, rules]) => {
      const { axe } = window as unknown as {
        axe: { run: (at: string, how: object) => Promise<{ violations: unknown }> };
      };
      const how = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) };
      return (await axe.run(selector, how)).violations as Violation[];
    },
    [within, only === 'colours' ? COLOURS : null] as const,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll(/\s+/g, ' ')}`),
    );
}
