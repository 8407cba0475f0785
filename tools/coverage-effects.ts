import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { coverage, readRows, type Covered } from './effects/effects.ts';
import { mutantsOf, mutate } from './effects/mutation/mutate.ts';

/**
 * Lists every endpoint and parameter with the test that shows its effect or its refusal; `--missing` lists only those
 * without one. `--mutate` leaves each parameter out of the requests of its test in turn, and lists the rows whose test
 * does not notice; parts of lines narrow it: `--mutate volumes.create`. All of them take hours.
 */
const { values, positionals } = parseArgs({
  options: { missing: { type: 'boolean' }, mutate: { type: 'boolean' } },
  allowPositionals: true,
});
const AT_A_TIME = 2;
const APIS = [portalApi, arrayApi, objectsApi];

function coveredOf(api: Api): readonly Covered[] {
  return coverage(api, readRows(readFileSync(join(import.meta.dirname, 'effects', `${api.name}.tsv`), 'utf8')));
}

function lineOf(api: Api, { operation, parameter, row }: Covered): string {
  return `${api.name}\t${operation}\t${parameter}\t${row ? `${row.file} › ${row.test}` : '-'}\n`;
}

function report(): void {
  const all = APIS.map((api) => ({ name: api.name, api, covered: coveredOf(api) }));
  for (const { api, covered } of all)
    for (const one of covered) if (!one.row || values.missing !== true) process.stdout.write(lineOf(api, one));
  for (const { name, covered } of [...all, { name: 'in all', covered: all.flatMap((one) => one.covered) }]) {
    const shown = covered.filter(({ row }) => row).length;
    const percent = Math.floor((shown * 100) / covered.length);
    process.stdout.write(
      `${name.padEnd(8)} ${shown} of ${covered.length} parameters have a test of their effect: ${percent} %\n`,
    );
    if (shown < covered.length) process.exitCode = 1;
  }
}

async function reportMutants(): Promise<void> {
  const isAsked = (line: string) => positionals.length === 0 || positionals.some((part) => line.includes(part));
  const mutants = APIS.flatMap((api) =>
    mutantsOf(api, coveredOf(api))
      .map((mutant) => ({ ...mutant, line: lineOf(api, mutant) }))
      .filter(({ line }) => isAsked(line)),
  );
  let noticed = 0;
  await mutate(mutants, AT_A_TIME, (mutant, verdict) => {
    if (verdict === undefined) noticed += 1;
    else process.stdout.write(`${verdict}\t${(mutant as (typeof mutants)[number]).line}`);
  });
  process.stdout.write(`${noticed} of ${mutants.length} tests fail without their parameter\n`);
  if (noticed < mutants.length) process.exitCode = 1;
}

if (values.mutate === true) await reportMutants();
else report();
