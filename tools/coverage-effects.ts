import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { coverage, readRows, type Covered } from './effects/effects.ts';

/**
 * Lists every endpoint and parameter with the test that shows its effect or its refusal; `--missing` lists only those
 * without one.
 */
const onlyMissing = process.argv.includes('--missing');

function report(api: Api): readonly Covered[] {
  const rows = readRows(readFileSync(join(import.meta.dirname, 'effects', `${api.name}.tsv`), 'utf8'));
  const covered = coverage(api, rows);
  for (const { operation, parameter, row } of covered) {
    if (row && onlyMissing) continue;
    const where = row ? `${row.file} › ${row.test}` : '-';
    process.stdout.write(`${api.name}\t${operation}\t${parameter}\t${where}\n`);
  }
  return covered;
}

const all = [portalApi, arrayApi, objectsApi].map((api) => ({ name: api.name, covered: report(api) }));
for (const { name, covered } of [...all, { name: 'in all', covered: all.flatMap((one) => one.covered) }]) {
  const shown = covered.filter(({ row }) => row).length;
  const percent = Math.floor((shown * 100) / covered.length);
  process.stdout.write(
    `${name.padEnd(8)} ${shown} of ${covered.length} parameters have a test of their effect: ${percent} %\n`,
  );
  if (shown < covered.length) process.exitCode = 1;
}
