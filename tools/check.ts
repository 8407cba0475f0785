import { run } from './run.ts';

/** Everything that can be known without running the product: types, lint, format, import directions, dead code. */
const steps: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', 'tsc', ['--project', '.']],
  ['lint', 'eslint', ['.', '--max-warnings', '0']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '.']],
  ['import directions and dead files', 'depcruise', ['--config', '.dependency-cruiser.cjs', '.']],
  ['dead exports', process.execPath, ['tools/dead-exports.ts']],
  ['API reference is up to date', process.execPath, ['tools/docs-api.ts', '--check']],
];

let failed = 0;
for (const [name, command, args] of steps) {
  process.stdout.write(`— ${name}\n`);
  if ((await run(command, args)) !== 0) failed += 1;
}
process.stdout.write(failed === 0 ? 'check: all good\n' : `check: ${failed} of ${steps.length} steps failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
