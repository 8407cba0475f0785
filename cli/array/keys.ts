import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { credentialsFile } from '../credentials.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import type { Product } from './product.ts';

/** What `granary array login` and `granary objects login` keep of one array. */
export interface ArrayKey {
  readonly product: Product;
  readonly url: string;
  readonly name: string;
  readonly username: string;
  readonly key: string;
}

/** The newest first: it is meant when no array is named. */
export function readArrayKeys(env: Terminal['env']): readonly ArrayKey[] {
  const file = keysFile(env);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ArrayKey[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new CommandFailure(exitCodes.notAllowed, `${file} cannot be read; remove it and sign in again.`);
  }
}

/** Written beside and moved into place: never half there, never readable by others. */
export function keepArrayKey(env: Terminal['env'], fresh: ArrayKey): string {
  const file = keysFile(env);
  const others = readArrayKeys(env).filter(({ url }) => url !== fresh.url);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify([fresh, ...others], null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return file;
}

function keysFile(env: Terminal['env']): string {
  return join(dirname(credentialsFile(env)), 'arrays.json');
}
