import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations, type Api } from '@granary/contract';
import type { Covered, Row } from '../effects.ts';

/**
 * Does a test notice when its parameter has no effect? The test is run once as it is, and once for each parameter it is
 * named for, with that parameter left out at the edge (`preload.ts`). It must pass the first time and fail the others.
 */
const ROOT = join(import.meta.dirname, '../../..');
const RUN_MS_MAX = 300_000;

/** Why a row proves nothing; undefined where its test failed as it should. */
export type Verdict = 'survived' | 'not sent' | 'fails anyway' | 'no such test' | undefined;

export interface Mutant extends Covered {
  readonly row: Row;
  /** `POST /volumes name`: what `GRANARY_DROP` says. */
  readonly drop: string;
}

export function mutantsOf(api: Api, covered: readonly Covered[]): Mutant[] {
  const byId = new Map(operations(api).map(({ id, endpoint }) => [id, endpoint]));
  return covered.flatMap((one) => {
    const endpoint = byId.get(one.operation);
    if (!endpoint || !one.row) return [];
    return [{ ...one, row: one.row, drop: `${endpoint.method} ${endpoint.path} ${one.parameter}` }];
  });
}

/** Tells `onVerdict` of every mutant, in the order in which they are done. */
export async function mutate(
  mutants: readonly Mutant[],
  concurrency: number,
  onVerdict: (mutant: Mutant, verdict: Verdict) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-mutants-'));
  const plain = new Map<string, Promise<Ended>>();
  const queue = mutants.entries();
  const work = async () => {
    for (const [index, mutant] of queue) {
      const { file, test } = mutant.row;
      const asItIs = plain.get(`${file} ${test}`) ?? runTest(mutant.row);
      plain.set(`${file} ${test}`, asItIs);
      const dropped = join(folder, String(index));
      const verdict = await verdictOf(await asItIs, async () => {
        const env = { GRANARY_DROP: mutant.drop, GRANARY_DROPPED: dropped };
        return { ...(await runTest(mutant.row, env)), wasDropped: existsSync(dropped) };
      });
      onVerdict(mutant, verdict);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  rmSync(folder, { recursive: true, force: true });
}

interface Ended {
  readonly hasPassed: boolean;
  readonly tests: number;
}

async function verdictOf(asItIs: Ended, mutated: () => Promise<Ended & { wasDropped: boolean }>): Promise<Verdict> {
  if (!asItIs.hasPassed) return 'fails anyway';
  if (asItIs.tests === 0) return 'no such test';
  const { hasPassed, wasDropped } = await mutated();
  if (!hasPassed) return undefined;
  return wasDropped ? 'survived' : 'not sent';
}

function runTest({ file, test }: Row, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const args = [
    `--import=${join(ROOT, 'tools/tests/quick-scrypt.ts')}`,
    '--test-reporter=tap',
    `--test-name-pattern=${patternOf(test)}`,
    join(ROOT, file),
  ];
  // Processes that the test starts are mutated, too.
  const NODE_OPTIONS = `--import=${join(import.meta.dirname, 'preload.ts')}`;
  const NODE_COMPILE_CACHE = join(ROOT, 'node_modules/.cache/compiled');
  const options = {
    cwd: ROOT,
    timeout: RUN_MS_MAX,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NODE_OPTIONS, NODE_COMPILE_CACHE, ...env },
  } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout) => {
      const passed = Number(/^# pass (\d+)$/m.exec(stdout)?.[1] ?? 0);
      resolve({ hasPassed: error === null, tests: passed });
    });
  });
}

/** Names that are templates have something else in their gaps. */
function patternOf(test: string): string {
  const fixed = test.split(/\$\{[^}]*\}/).map((text) => RegExp.escape(text));
  return fixed.join('.*');
}
