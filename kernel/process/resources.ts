import { basename, dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/**
 * Megabytes for what the main thread leaves behind, by the folder of the program. That of an object array has a part in
 * every small PUT, and with less it would look through its garbage all the time.
 */
const YOUNG_MB: Readonly<Record<string, number>> = { objects: 8 };
const YOUNG_MB_ELSE = 1;

/**
 * How a process that a cloud starts is kept small. An idle array allocates little, so a small young generation is
 * enough; few of its threads allocate at once, so they may share what they allocate from; and `releaseMemory` needs
 * the collector within reach.
 */
export function programOptions(program: string): string[] {
  return [`--max-semi-space-size=${YOUNG_MB[basename(dirname(program))] ?? YOUNG_MB_ELSE}`, '--expose-gc'];
}
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '2' };

/**
 * What starting has left behind: to compile and to open takes memory that is free afterwards, but scattered, and an
 * idle thread would keep it for as long as it lives. Blocks the thread, so call it before somebody waits for it.
 */
export function releaseMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * From now on each new thread has the young generation that its own limits allow. The option above is told to every
 * isolate of the process, and V8 puts it before the limits of a thread: one that is busy would collect garbage all the
 * time in the room that is enough for an idle one.
 */
export function letThreadsDiffer(): void {
  setFlagsFromString('--max-semi-space-size=0');
}
