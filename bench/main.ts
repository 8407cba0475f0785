import { benchArray } from './array/main.ts';
import { benchFiles } from './files/main.ts';
import { benchObjects } from './objects/main.ts';
import { benchPortal } from './portal.ts';
import type { Ratio } from './ratio.ts';
import { benchStorage } from './storage/main.ts';
import { benchMemory } from './memory.ts';

/** Ratios within one run, so that the machine drops out; the last column says what we hold ourselves to. */
const parts: readonly (readonly [string, () => Promise<Ratio[]>])[] = [
  ['portal', benchPortal],
  ['memory', benchMemory],
  ['storage', benchStorage],
  ['array', benchArray],
  ['objects', benchObjects],
  ['files', benchFiles],
];

const wanted = process.argv.slice(2);
let missed = 0;
for (const [name, bench] of parts) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`${name}\n`);
  for (const { what, value, wanted: goal, met } of await bench()) {
    const verdict = value === undefined ? '-   ' : met ? 'ok  ' : 'MISS';
    process.stdout.write(`  ${verdict} ${(value?.toFixed(2) ?? '-').padStart(7)}  ${what} (${goal})\n`);
    if (value !== undefined && !met) missed += 1;
  }
}
process.exitCode = missed === 0 ? 0 : 1;
