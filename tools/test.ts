import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './run.ts';

/**
 * `npm test` runs every `*.test.ts`; those that start whole processes (`*.e2e.test.ts`) run after the others, and those
 * that measure (`*.alone.test.ts`) last and one at a time, so that they have the machine to themselves. `npm run torture`
 * runs the same with many more seeds. File names, or parts of them, narrow the run: `npm test -- billing`.
 */
const { values, positionals } = parseArgs({ options: { torture: { type: 'boolean' } }, allowPositionals: true });

const files = globSync('**/*.test.ts', { exclude: ['node_modules/**'] })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();
const whole = files.filter((file) => file.endsWith('.e2e.test.ts'));
const alone = files.filter((file) => file.endsWith('.alone.test.ts'));
const parts = files.filter((file) => !whole.includes(file) && !alone.includes(file));
const env = {
  ...(values.torture === true && { GRANARY_TORTURE: '1' }),
  // Hundreds of processes load the same modules; Node remembers what it made of them.
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
};

let code = 0;
for (const [group, concurrency] of [
  // Many wait for clocks and disks: three keep two processors busy.
  [parts, 3],
  [whole, 3],
  [alone, 1],
] as const) {
  if (group.length === 0) continue;
  const options = ['--test', `--test-concurrency=${concurrency}`, '--test-reporter=spec', '--test-timeout=900000'];
  code = Math.max(code, await run(process.execPath, [...options, ...group], env));
}
if (files.length === 0) {
  process.stderr.write(`No test file matches ${positionals.join(' ')}\n`);
  code = 2;
}
process.exitCode = code;
