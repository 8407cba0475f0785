import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { FileBody } from '@granary/contract';
import { CommandFailure, exitCodes } from '../exit.ts';
import { print, type Terminal } from '../terminal.ts';

/** Saves a reply that is a file: where the command says, else under the service's own name for it, here. */
export function saveFile(terminal: Terminal, file: FileBody, output: string | undefined): void {
  if (output === '-') {
    terminal.stdout.write(file.bytes);
    return;
  }
  // The service names the file, not the folder, and replaces nothing that is there.
  const path = output ?? basename(file.filename.replaceAll('\\', '/'));
  try {
    writeFileSync(path, file.bytes, { flag: output === undefined ? 'wx' : 'w' });
  } catch (error) {
    throw new CommandFailure(exitCodes.failed, problemOf(path, error), { cause: error });
  }
  print(terminal, `Saved ${path} (${file.bytes.length} bytes).`);
}

function problemOf(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return `${path} exists already; name another file, or this one, with --output.`;
  return `${path} could not be written (${code}).`;
}
