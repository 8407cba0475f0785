import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { letterFile, type Letter } from '@granary/kernel';

const KEPT_MAX = 1_000;
const NUMBER_LENGTH = 12;

/** Where mails go without a server: a file each, readable by the owner of the process only. */
export async function writeToOutbox(folder: string, id: number, letter: Letter): Promise<void> {
  const bytes = await letterFile(letter);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${String(id).padStart(NUMBER_LENGTH, '0')}.eml`;
  const draft = join(folder, `${name}.part`);
  writeFileSync(draft, bytes, { mode: 0o600, flush: true });
  renameSync(draft, join(folder, name));
  const kept = readdirSync(folder)
    .filter((file) => file.endsWith('.eml'))
    .sort();
  for (const old of kept.slice(0, -KEPT_MAX)) rmSync(join(folder, old), { force: true });
}
