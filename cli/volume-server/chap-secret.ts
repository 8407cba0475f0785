import { closeSync, openSync, readSync } from 'node:fs';
import { usageFailure } from '../exit.ts';

export interface ChapSecret {
  readonly user: string;
  readonly secret: string;
}

const PATTERN = /^([^:\s]{1,64}):(\S{12,64})$/;
const FILE_BYTES_MAX = 1024;

/** From a file or the environment, never from an option: every user of the machine can read those. */
export function readChapSecret(file: string | undefined, fromEnvironment: string | undefined): ChapSecret | undefined {
  if (file !== undefined) return parse(contentOf(file), `--chap-file: ${file}`);
  return fromEnvironment ? parse(fromEnvironment, 'GRANARY_CHAP') : undefined;
}

function contentOf(file: string): string {
  const bytes = Buffer.alloc(FILE_BYTES_MAX);
  try {
    const handle = openSync(file, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw usageFailure(`--chap-file: ${file} cannot be read (${code}); name a file that holds USER:SECRET.`);
  }
}

function parse(text: string, where: string): ChapSecret {
  const [, user, secret] = PATTERN.exec(text.trim()) ?? [];
  if (user !== undefined && secret !== undefined) return { user, secret };
  throw usageFailure(`${where} must hold one line USER:SECRET, with a secret of 12 to 64 characters.`);
}
