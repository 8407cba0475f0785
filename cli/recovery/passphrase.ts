import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { readNamedFile } from '../services/options.ts';
import type { Terminal } from '../terminal.ts';

const LENGTH_MIN = 12;

export function addPassphraseOption(command: GranaryCommand): void {
  command.option(
    '--passphrase-file <file>',
    'File with the passphrase that the keys in the backup are wrapped with (also GRANARY_BACKUP_PASSPHRASE)',
  );
}

export function readPassphrase(
  { passphraseFile }: { readonly passphraseFile?: string },
  { env }: Terminal,
): string | undefined {
  const given =
    passphraseFile === undefined
      ? env['GRANARY_BACKUP_PASSPHRASE'] || undefined
      : readNamedFile(passphraseFile, '--passphrase-file').trim();
  if (given !== undefined && given.length < LENGTH_MIN)
    throw usageFailure(`The passphrase of a backup must have at least ${LENGTH_MIN} characters.`);
  return given;
}
