import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  copyFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { fromEnvironment } from '../services/options.ts';
import { print, type Terminal } from '../terminal.ts';
import { copyDrive, digestOf, isDatabase, syncOne, syncTree } from './files.ts';
import { findBackup, type BackedUpFile, type Manifest } from './manifest.ts';
import { addPassphraseOption, readPassphrase } from './passphrase.ts';

interface RestoreOptions {
  readonly from: string;
  readonly data: string;
  readonly addresses?: string;
  readonly adopt?: boolean;
  readonly passphraseFile?: string;
}

export function addRestore(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('restore');
  command.description('Make a data folder from a backup; the folder must not exist or be empty');
  command.requiredOption('--from <folder>', 'A backup, or the folder that backups went to: then the newest one');
  const data = new Option('--data <folder>', 'The folder to make');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.option('--addresses <cidr>', 'Give every array a new address of this range, to run beside the original');
  command.option('--adopt', 'The original is gone for good: this installation is in charge of its own cloud at once');
  addPassphraseOption(command);
  command.action(async (options: RestoreOptions) => restore(options, terminal));
}

async function restore(options: RestoreOptions, terminal: Terminal): Promise<void> {
  const { folder: source, manifest } = findBackup(resolve(options.from));
  const data = resolve(options.data);
  if (existsSync(data) && readdirSync(data).length > 0)
    throw new CommandFailure(exitCodes.failed, `${data} is not empty; name a new folder with --data.`);
  const unwrap = await unwrapperOf(manifest, readPassphrase(options, terminal));
  await verify(source, manifest);
  const fresh = `${data}.restoring`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  const { markClosed } = await import('@granary/kernel');
  for (const file of manifest.files) {
    const to = join(fresh, file.path);
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    if (file.wrapped) writeFileSync(to, unwrap(readFileSync(inBackup(source, file), 'utf8')), { mode: 0o600 });
    else copyFileSync(inBackup(source, file), to);
    if (isDatabase(file.path)) markClosed(to);
  }
  for (const { drives } of manifest.arrays)
    for (const drive of drives) await copyDrive(join(source, drive), join(fresh, drive));
  const readdressed = await decide(fresh, options);
  syncTree(fresh);
  if (existsSync(data)) rmSync(data, { recursive: true });
  renameSync(fresh, data);
  syncOne(dirname(data));
  print(terminal, `Restored ${data} from ${source}, as of ${manifest.madeAt}.`);
  if (readdressed > 0) print(terminal, `${readdressed} arrays have new addresses of ${options.addresses}.`);
  for (const { name, displayName, missing } of manifest.arrays)
    for (const what of missing) print(terminal, `  ${displayName} (${name}): ${what}`);
  print(terminal, `Start it with \`granary up --data ${data}\`.`);
  if (options.addresses === undefined && options.adopt !== true)
    print(
      terminal,
      `Should ${manifest.source} still exist, or be on another machine, arrays are not started before \`granary clouds adopt\`.`,
    );
}

/** Clouds on other machines are moved one by one, with `granary clouds adopt`: their arrays may serve the original. */
async function decide(folder: string, { addresses, adopt }: RestoreOptions): Promise<number> {
  if ((addresses === undefined && adopt !== true) || !existsSync(join(folder, 'cloud', 'cloud.db'))) return 0;
  const { adoptFolder } = await import('@granary/cloud');
  return adoptFolder(folder, { addresses });
}

/** Nothing is written before every file of the backup is known to be whole. */
async function verify(source: string, { files }: Manifest): Promise<void> {
  const bad: string[] = [];
  for (const file of files) {
    const path = inBackup(source, file);
    if (!existsSync(path)) bad.push(`${path} is missing`);
    else if ((await digestOf(path)) !== file.sha256) bad.push(`${path} is not as it was written`);
  }
  if (bad.length > 0)
    throw new CommandFailure(exitCodes.failed, `${source} is damaged; take another backup:`, { details: bad });
}

function inBackup(source: string, { path, wrapped }: BackedUpFile): string {
  return join(source, wrapped ? `${path}.wrapped` : path);
}

async function unwrapperOf(manifest: Manifest, passphrase: string | undefined): Promise<(text: string) => Buffer> {
  if (!manifest.wrapping) return (text) => Buffer.from(text);
  const { unwrapKey, verifyKey } = await import('@granary/kernel');
  const wrapping = passphrase === undefined ? undefined : await verifyKey(passphrase, manifest.wrapping);
  if (wrapping) return (text) => unwrapKey(wrapping, text);
  const problem = passphrase === undefined ? 'needs its passphrase' : 'has another passphrase';
  throw new CommandFailure(exitCodes.notAllowed, `The backup ${problem}; give it with --passphrase-file.`);
}
