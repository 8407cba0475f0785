import { basename, dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ioThreadsOf, type ProcessLimits } from './limits.ts';

/**
 * The young generation of the main thread in megabytes, by the folder of the program. An object array's main thread
 * takes part in every small PUT, and with less it would collect garbage all the time.
 */
const YOUNG_MB: Readonly<Record<string, number>> = { objects: 8 };
const YOUNG_MB_ELSE = 1;

/**
 * Options that keep a hosted process small. An idle array allocates little, so a small young generation suffices; few
 * of its threads allocate concurrently, so they share a malloc arena; and `releaseMemory` needs access to the
 * collector.
 */
export function programOptions(program: string, { managementHeapMb }: ProcessLimits = {}): string[] {
  return [
    `--max-semi-space-size=${YOUNG_MB[basename(dirname(program))] ?? YOUNG_MB_ELSE}`,
    '--expose-gc',
    ...(managementHeapMb === undefined ? [] : [`--max-old-space-size=${managementHeapMb}`]),
  ];
}

export function programEnvironment(limits: ProcessLimits = {}): Readonly<Record<string, string>> {
  const ioThreads = ioThreadsOf(limits);
  return { MALLOC_ARENA_MAX: '2', ...(ioThreads !== undefined && { UV_THREADPOOL_SIZE: String(ioThreads) }) };
}

/**
 * Releases memory of the start: compiling and opening leave free but fragmented memory, which an idle thread would keep
 * as long as it lives. Blocks the thread, so call it before requests arrive.
 */
export function releaseMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * From now on each new thread has the heap of its own limits. The options above apply to every isolate of the process,
 * and V8 prefers them to the limits of a thread: a busy thread would collect garbage all the time in a young generation
 * that suits an idle one.
 */
export function letThreadsDiffer(): void {
  setFlagsFromString('--max-semi-space-size=0');
  setFlagsFromString('--max-old-space-size=0');
}
