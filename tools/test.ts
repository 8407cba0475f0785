import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runFiles, type FileResult } from './tests/pool.ts';
import { Summary } from './tests/summary.ts';
import { temporaryFolder } from './tests/temporary-folder.ts';

/**
 * `npm test` runs whatever guards a rule: every file but those of the long group, a few rounds of what runs in rounds.
 * `npm run test:long` runs the long group: whole processes end to end (`*.e2e.test.ts`), what takes minutes
 * (`*.long.test.ts`), more rounds of `*.seeded.test.ts`, and last, one at a time, what measures and so needs the machine
 * to itself (`*.alone.test.ts`). `npm run torture` runs all files with many more rounds.
 *
 * File names, or parts of them, narrow a run, whatever the group: `npm test -- billing`. `--times` prints the time of
 * every file, not only of the slowest.
 */
const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean' }, torture: { type: 'boolean' }, times: { type: 'boolean' } },
  allowPositionals: true,
});
const { long: isLongRun = false, torture: isTorture = false, times: withAllTimes = false } = values;

const isAlone = (file: string) => file.endsWith('.alone.test.ts');
const isLong = (file: string) => /\.(e2e|long|alone)\.test\.ts$/.test(file);
/** What measures a whole process, or mocks or fills up what all of it shares, has a process of its own. */
const isIsolated = (file: string) => isLong(file) || file.endsWith('.isolated.test.ts');

function isWanted(file: string): boolean {
  if (positionals.length > 0 && !positionals.some((part) => file.includes(part))) return false;
  if (isLongRun) return isLong(file) || file.endsWith('.seeded.test.ts');
  return isTorture || positionals.length > 0 || !isLong(file);
}

const files = globSync('**/*.test.ts', { exclude: ['node_modules/**'] })
  .filter(isWanted)
  .sort((a, b) => Number(isLong(a)) - Number(isLong(b)) || (a < b ? -1 : 1));
const summary = new Summary(files.length, isTorture || positionals.length > 0);
const options = {
  env: {
    ...(isTorture ? { GRANARY_TORTURE: '1' } : { TMPDIR: temporaryFolder() }),
    ...(isLongRun && { GRANARY_LONG: '1' }),
    // Every worker loads the same modules; Node remembers what it made of them.
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
  },
  isIsolated,
  onResult: (result: FileResult) => summary.add(result),
};

// Many wait for clocks and other processes: four keep two processors busy.
const AT_A_TIME = 4;
await runFiles(
  files.filter((file) => !isAlone(file)),
  { ...options, concurrency: AT_A_TIME },
);
await runFiles(files.filter(isAlone), { ...options, concurrency: 1 });

if (files.length === 0) process.stderr.write(`No test file matches ${positionals.join(' ')}\n`);
else summary.print(withAllTimes);
process.exitCode = files.length === 0 ? 2 : Number(summary.hasFailed);
