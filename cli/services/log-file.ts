import { createWriteStream, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '@granary/kernel';
import { makeFolder } from './folder.ts';

const STDOUT = '-';

/** Makes the log of each service in this process. */
export type LogFor = (service: string) => Log;

/** Logs go to one file, so that they do not run over what people are told. */
export async function openLogs(file: string): Promise<LogFor> {
  // Loaded here and not above: commands that only call the portal start in half the time without the services.
  const { createLog } = await import('@granary/kernel');
  if (file === STDOUT) return (service) => createLog(service);
  makeFolder(dirname(file));
  // Opened at once: a log that cannot be written is a reason not to start.
  const stream = createWriteStream(file, { fd: openSync(file, 'a', 0o600) });
  return (service) => createLog(service, 'info', stream);
}
