import { openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '@granary/kernel';
import { makeFolder } from './folder.ts';

const STDOUT = '-';
const SIZE_BYTES_MAX = 50 * 2 ** 20;

/** Makes the log of each service in this process. */
export type LogFor = (service: string) => Log;

/** Logs go to one file, so that they do not mix with messages on the terminal. */
export async function openLogs(file: string, sizeBytesMax = SIZE_BYTES_MAX): Promise<LogFor> {
  // Loaded here and not above: commands that only call the portal start in half the time without the services.
  const { createLog, LogLines } = await import('@granary/kernel');
  if (file === STDOUT) return (service) => createLog(service);
  makeFolder(dirname(file));
  setAsideWhenLarge(file, sizeBytesMax);
  // Opened at once: a log that cannot be written is a reason not to start.
  const lines = new LogLines(openSync(file, 'a', 0o600));
  return (service) => createLog(service, 'info', lines);
}

/** One log before this one is kept. What is no plain file, such as /dev/stderr, stays where it is. */
function setAsideWhenLarge(file: string, sizeBytesMax: number): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() && found.size > sizeBytesMax) renameSync(file, `${file}.1`);
}
