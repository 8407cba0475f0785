import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseOutput, type TestOutcome } from './parse-output.ts';

const run = promisify(execFile);
const PROGRAM = 'iscsi-test-cu';
const SUITE_SECONDS_MAX = 60;
const TEST_SECONDS_MAX = 30;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export interface SuiteOptions {
  /** `iscsi://host:port/target/lun`. All data there is lost. */
  readonly url: string;
  /** Only suites whose name passes. */
  readonly only?: (suite: string) => boolean;
  readonly onSuite?: (suite: string) => void;
}

interface Ended {
  readonly output: string;
  /** What went wrong with the program itself. */
  readonly trouble: string | undefined;
}

/**
 * Runs the ALL family of libiscsi's conformance tests, suite by suite with a time limit each. A suite that hangs or
 * crashes is run again test by test, so that it hides nothing. The unit is given twice, which lets the multipath tests
 * run too.
 */
export async function runSuite({ url, only = () => true, onSuite }: SuiteOptions): Promise<TestOutcome[]> {
  const outcomes: TestOutcome[] = [];
  for (const [suite, tests] of await listTests()) {
    if (!only(suite)) continue;
    onSuite?.(suite);
    const { output } = await runTests(`ALL.${suite}`, url, SUITE_SECONDS_MAX);
    const seen = parseOutput(output);
    const missing = tests.filter((test) => !seen.some(({ name }) => name === `${suite}.${test}`));
    outcomes.push(...seen);
    for (const test of missing) outcomes.push(await runOne(suite, test, url));
  }
  return outcomes;
}

async function runOne(suite: string, test: string, url: string): Promise<TestOutcome> {
  const name = `${suite}.${test}`;
  const { output, trouble } = await runTests(`ALL.${name}`, url, TEST_SECONDS_MAX);
  const outcome = parseOutput(output).find((seen) => seen.name === name);
  return outcome ?? { name, result: 'failed', reason: trouble ?? `The program did not run the test: ${output}` };
}

async function runTests(pattern: string, url: string, seconds: number): Promise<Ended> {
  const args = ['--dataloss', '--allow-sanitize', '--verbose', '--test', pattern, url, url];
  // Without a large buffer a long list of failures would look like a crash.
  const options = { timeout: seconds * 1000, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const;
  try {
    const { stdout, stderr } = await run(PROGRAM, args, options);
    return { output: stdout + stderr, trouble: undefined };
  } catch (error) {
    const {
      stdout = '',
      killed,
      signal,
      code,
    } = error as { stdout?: string; killed?: boolean; signal?: string; code?: number };
    const trouble = killed === true ? `no end after ${seconds} s` : `ended with ${signal ?? `code ${code ?? 0}`}`;
    return { output: stdout, trouble };
  }
}

/** Suites of the ALL family and their tests. */
async function listTests(): Promise<Map<string, string[]>> {
  const { stdout } = await run(PROGRAM, ['--list'], { maxBuffer: OUTPUT_BYTES_MAX });
  const suites = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [family, suite, test] = line.trim().split('.');
    if (family !== 'ALL' || suite === undefined || test === undefined) continue;
    suites.set(suite, [...(suites.get(suite) ?? []), test]);
  }
  return suites;
}
