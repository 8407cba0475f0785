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
  const plain = new Map<string, Promise<Ended & { isWholeFile: boolean }>>();
  const queue = mutants.entries();
  const work = async () => {
    for (const [index, mutant] of queue) {
      const { file, test } = mutant.row;
      const asItIs = plain.get(`${file} ${test}`) ?? runAsItIs(mutant.row);
      plain.set(`${file} ${test}`, asItIs);
      const dropped = join(folder, String(index));
      const before = await asItIs;
      const verdict = await verdictOf(before, async () => {
        const env = { GRANARY_DROP: mutant.drop, GRANARY_DROPPED: dropped };
        const run = before.isWholeFile ? runFile : runTest;
        return { ...(await run(mutant.row, env)), wasDropped: existsSync(dropped) };
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

/** Alone where it passes alone, which is quicker; with its file where it goes on from the tests before it. */
async function runAsItIs(row: Row): Promise<Ended & { isWholeFile: boolean }> {
  const alone = await runTest(row);
  if (alone.hasPassed) return { ...alone, isWholeFile: false };
  return { ...(await runFile(row)), isWholeFile: true };
}

async function runTest(row: Row, env: Environment = {}): Promise<Ended> {
  const { hasPassed, tap } = await run([`--test-name-pattern=${patternOf(row.test)}`, join(ROOT, row.file)], env);
  return { hasPassed, tests: Number(/^# pass (\d+)$/m.exec(tap)?.[1] ?? 0) };
}

/** Of the whole file, what became of the one test. */
async function runFile(row: Row, env: Environment = {}): Promise<Ended> {
  const { tap } = await run([join(ROOT, row.file)], env);
  const line = new RegExp(`^ *(not )?ok \\d+ - ${patternOf(row.test)}$`, 'gm');
  const ends = [...tap.matchAll(line)].map(([, not]) => not === undefined);
  return { hasPassed: ends.length > 0 && ends.every(Boolean), tests: ends.length };
}

type Environment = Readonly<Record<string, string>>;

function run(what: readonly string[], env: Environment): Promise<{ hasPassed: boolean; tap: string }> {
  const args = [`--import=${join(ROOT, 'tools/tests/quick-scrypt.ts')}`, '--test-reporter=tap', ...what];
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
    execFile(process.execPath, args, options, (error, tap) => resolve({ hasPassed: error === null, tap }));
  });
}

/** Names that are templates have something else in their gaps. */
function patternOf(test: string): string {
  const fixed = test.split(/\$\{[^}]*\}/).map((text) => RegExp.escape(text));
  return fixed.join('.*');
}
