import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that depend on which of the two colour schemes is shown. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
/** Where the console keeps the scheme that its style sheets follow. */
const SCHEME = 'data-mantine-color-scheme';

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Puts axe into every page of the context; the page's own policy does not hold for what a test brings. */
export async function bringAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript(SCRIPT);
}

/**
 * Serious and critical problems of what is shown, in words: by all rules in the scheme at hand, by those of colours in the
 * other one, too, where both are asked for. The scheme is switched in place, so that nothing is loaded or drawn twice. `within` is a selector.
 */
export async function seriousProblems(
  page: Page,
  within = 'html',
  schemes: 'both' | 'present' = 'both',
): Promise<string[]> {
  const found = await page.evaluate(
    async ([selector, rules, attribute, isBoth]) => {
      const { axe } = window as unknown as {
        axe: { run: (at: string, how: object) => Promise<{ violations: Violation[] }> };
      };
      // What axe would load anew, style sheets and media, no rule here looks at.
      const how = { resultTypes: ['violations'], preload: false };
      const root = document.documentElement;
      const scheme = root.getAttribute(attribute) ?? 'light';
      const other = scheme === 'dark' ? 'light' : 'dark';
      const still = new CSSStyleSheet();
      still.replaceSync('* { transition: none !important }');
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, still];
      try {
        const { violations: first } = await axe.run(selector, how);
        if (!isBoth) return [{ scheme, violations: first }];
        root.setAttribute(attribute, other);
        const { violations: second } = await axe.run(selector, { ...how, runOnly: { type: 'rule', values: rules } });
        return [
          { scheme, violations: first },
          { scheme: other, violations: second },
        ];
      } finally {
        root.setAttribute(attribute, scheme);
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== still);
      }
    },
    [within, COLOURS, SCHEME, schemes === 'both'] as const,
  );
  return found.flatMap(({ scheme, violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.map(
          ({ html, failureSummary }) =>
            `${scheme}: ${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll(/\s+/g, ' ')}`,
        ),
      ),
  );
}
