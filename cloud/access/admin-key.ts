import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { newSecret } from '@granary/kernel';

/** The administrator's key: the one given, else one made at the first start and kept for its owner's eyes. */
export function adminKeyFrom(file: string, given: string | undefined): string {
  if (given !== undefined) return given;
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${newSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  }
  return readFileSync(file, 'utf8').trim();
}
