import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/**
 * Goal: what search and the overview name has a page. Method: by the sources, because the pages are loaded in browsers
 * only; a kind is the address of its page.
 */

const NAMED = {
  array: ['array/search/service.ts', 'array/summaries/concerns.ts'],
  objects: ['objects/search/service.ts', 'objects/summaries/service.ts'],
  portal: ['portal/search/service.ts', 'portal/overview/attention.ts'],
} as const;

function sourceOf(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

function matchesIn(file: string, pattern: RegExp): string[] {
  return [...sourceOf(file).matchAll(pattern)].map(([, found = '']) => found);
}

for (const [service, files] of Object.entries(NAMED))
  test(`each kind of thing that is found in ${service} has a page`, () => {
    const paths = new Set(matchesIn(`console/src/${service}/pages.ts`, /path: '([^']*)'/g));
    const kinds = new Set(files.flatMap((file) => matchesIn(file, /kind: '([^']*)'/g)));
    assert.ok(kinds.size > 2 && paths.size > 10);
    assert.deepEqual(
      [...kinds].filter((kind) => !paths.has(kind)),
      [],
    );
  });
