import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { run } from './run.ts';

/**
 * `npm test` runs every `*.test.ts`; those that start whole processes (`*.e2e.test.ts`) run last and one at a time,
 * so that they have the machine to themselves. `npm run torture` runs the same with many more seeds.
 * File names, or parts of them, narrow the run: `npm test -- billing`.
 */
const { values, positionals } = parseArgs({ options: { torture: { type: 'boolean' } }, allowPositionals: true });

const files = globSync('**/*.test.ts', { exclude: ['node_modules/**'] })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();
const whole = files.filter((file) => file.endsWith('.e2e.test.ts'));
const parts = files.filter((file) => !file.endsWith('.e2e.test.ts'));
const env = values.torture === true ? { GRANARY_TORTURE: '1' } : {};

let code = 0;
for (const [group, concurrency] of [
  [parts, 2],
  [whole, 1],
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
