import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  fingerprint,
  PREPARE,
  programEnvironment,
  programOptions,
  PULSE_VARIABLE,
  type ProcessLimits,
} from '@granary/kernel';

/** Nothing else of our environment reaches an array: it may hold secrets of ours. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL'];
const PREPARE_MS_MAX = 60_000;

interface Forking {
  readonly program: string;
  /** In the arguments, where a list of processes shows it; secrets never are. */
  readonly name: string;
  readonly cacheFolder: string | undefined;
  readonly limits?: ProcessLimits;
  readonly signal?: AbortSignal;
}

/** Starts a program within its limits. */
export function forkProgram({ program, name, cacheFolder, limits, signal }: Forking): ChildProcess {
  return fork(program, [name], {
    execArgv: programOptions(program, limits),
    env: environment(cacheFolder, limits),
    // The last one is for signs of life that pass the main thread by.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    killSignal: 'SIGKILL',
    ...(signal && { signal }),
  });
}

/**
 * Has a program compiled once and for all: a process that must do that itself needs a fifth more memory for as long
 * as it lives, and twice the time to start. An error here occurs again, and is reported, when an array starts.
 */
export async function prepareProgram(
  program: string,
  cacheFolder: string | undefined,
  stop: AbortSignal,
): Promise<void> {
  if (cacheFolder === undefined) return;
  const mark = join(cacheFolder, `${fingerprint(program).slice(0, 16)}.prepared`);
  if (existsSync(mark) || stop.aborted) return;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(PREPARE_MS_MAX)]);
  const child = forkProgram({ program, name: PREPARE, cacheFolder, signal });
  for (const stream of [child.stdout, child.stderr]) stream?.resume();
  child.on('error', () => undefined);
  const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
  // Without the mark it is compiled again at the next start: no reason not to start now.
  if (code === 0) await writeFile(mark, '').catch(() => undefined);
}

function environment(cacheFolder: string | undefined, limits?: ProcessLimits): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => PASSED_ON.includes(name));
  return {
    ...Object.fromEntries(kept),
    ...programEnvironment(limits),
    [PULSE_VARIABLE]: '1',
    ...(cacheFolder !== undefined && { NODE_COMPILE_CACHE: cacheFolder }),
  };
}
