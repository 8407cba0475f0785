import { runQuietly } from './run.ts';

/** Everything that can be known without running the product. The longest first: two run at a time. */
const steps: readonly (readonly [string, string, readonly string[]])[] = [
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings', '--report-unused-disable-directives', '--format=unix', '.']],
  ['types', 'tsc', ['--project', '.']],
  ['types of the console', 'tsc', ['--project', 'console/src']],
  ['types of what runs in a browser', 'tsc', ['--project', 'e2e/console']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '.']],
  ['import directions and dead files', 'depcruise', ['--config', '.dependency-cruiser.cjs', '.']],
  ['folders that import each other', process.execPath, ['tools/folder-circles.ts']],
  ['dead exports', process.execPath, ['tools/dead-exports.ts']],
  ['API reference is up to date', process.execPath, ['tools/docs-api.ts', '--check']],
];
const AT_A_TIME = 2;

const waiting = steps.values();
let failed = 0;

async function work(): Promise<void> {
  for (const [name, command, args] of waiting) {
    const start = performance.now();
    const { code, output } = await runQuietly(command, args);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    process.stdout.write(`${output}— ${name}: ${code === 0 ? 'good' : 'failed'} (${seconds} s)\n`);
    if (code !== 0) failed += 1;
  }
}

await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.stdout.write(failed === 0 ? 'check: all good\n' : `check: ${failed} of ${steps.length} steps failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
