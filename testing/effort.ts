/**
 * How many rounds a test runs whose number of rounds is free (seeds, kills, random requests): a slice in `npm test`, more
 * in `npm run test:long`, many in `npm run torture`. A file of such tests is called `*.seeded.test.ts`, so that
 * `npm run test:long` runs it again.
 */
export function rounds(counts: Readonly<Record<'quick' | 'long' | 'torture', number>>): number {
  if (process.env['GRANARY_TORTURE'] === '1') return counts.torture;
  return process.env['GRANARY_LONG'] === '1' ? counts.long : counts.quick;
}

/** How many seeds a test tries: one in `npm test`. */
export function seedCount(usual: number): number {
  return rounds({ quick: 1, long: usual, torture: usual * 20 });
}
