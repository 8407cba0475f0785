import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { DatabaseCopy } from '@granary/kernel';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { runningParts } from '../services/control.ts';
import { fromEnvironment } from '../services/options.ts';
import { print, type Terminal } from '../terminal.ts';

interface RestoreOptions {
  readonly data: string;
  readonly copy?: string;
}

const NEWEST = 'newest';

export function addRestoreBooks(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('restore-books [database]');
  command.description(
    'List the hourly copies of the databases, or put one in the place of a damaged database: portal, cloud, or vsa-…',
  );
  const data = new Option('--data <folder>', 'Where Granary keeps everything');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.option('--copy <time>', 'Which copy, by its time as listed', NEWEST);
  command.action(async (name: string | undefined, options: RestoreOptions) =>
    name === undefined ? list(options, terminal) : restore(name, options, terminal),
  );
}

async function list({ data }: RestoreOptions, terminal: Terminal): Promise<void> {
  const { listCopies } = await import('@granary/kernel');
  const folder = resolve(data);
  const found = databasesIn(folder);
  if (found.length === 0) throw new CommandFailure(exitCodes.notFound, `${folder} holds no databases of Granary.`);
  for (const { name, file } of found) {
    print(terminal, `${name}: ${relative(folder, file)}${existsSync(file) ? '' : ' (missing)'}`);
    const copies = listCopies(file);
    for (const copy of copies) print(terminal, `  ${timeOf(copy)}  ${copy.bytes} bytes`);
    if (copies.length === 0) print(terminal, '  no copies');
  }
  print(terminal, 'Restore one with `granary restore-books NAME --copy TIME`, while Granary is stopped.');
}

async function restore(name: string, { data, copy: wanted = NEWEST }: RestoreOptions, terminal: Terminal) {
  const { listCopies, restoreCopy } = await import('@granary/kernel');
  const folder = resolve(data);
  const database = databasesIn(folder).find((one) => one.name === name);
  if (!database)
    throw new CommandFailure(exitCodes.notFound, `${folder} holds no database ${name}; list them without a name.`);
  if ((await runningParts(folder)) !== undefined)
    throw new CommandFailure(exitCodes.failed, `Granary runs on ${folder}; stop it first.`);
  const copy = listCopies(database.file).find((one) => wanted === NEWEST || timeOf(one) === wanted);
  if (!copy) throw new CommandFailure(exitCodes.notFound, `There is no copy ${wanted} of ${database.file}.`);
  const aside = restoreCopy(database.file, copy.path);
  print(terminal, `${database.file} is the copy of ${timeOf(copy)} now.`);
  if (aside !== undefined) print(terminal, `What was there is kept as ${aside}.`);
  for (const line of missingSince(name, timeOf(copy))) print(terminal, line);
}

/** What a restored database does not know, and how the rest of Granary makes up for it. */
function missingSince(name: string, time: string): string[] {
  const all = `What was changed after ${time} is not in it.`;
  if (name === 'portal')
    return [
      `${all} Users, requests, prices and bills of that time are lost.`,
      'Arrays that were ordered since run on: name them with `granary events list` after the start, and take them on',
      'record with `granary clouds recover-arrays ID`. Arrays that were deleted since become `failed`.',
    ];
  if (name === 'cloud')
    return [
      `${all} Arrays and drives that changed since are taken from the records in the folders of the arrays at the`,
      'next start, which says which ones; no file of a drive is removed.',
    ];
  return [
    `${all} Users, servers and settings of that time are lost. Volumes made since are kept and named in the array's`,
    'messages; `granary array check` compares records and bytes.',
  ];
}

interface Named {
  readonly name: string;
  readonly file: string;
}

/** The databases that are copied, by the name they are restored by. A damaged file may be missing: its copies are not. */
function databasesIn(folder: string): Named[] {
  const arrays = join(folder, 'cloud', 'arrays');
  const names = existsSync(arrays) ? readdirSync(arrays).sort() : [];
  const candidates = [
    { name: 'portal', file: join(folder, 'portal', 'portal.db') },
    { name: 'cloud', file: join(folder, 'cloud', 'cloud.db') },
    ...names.flatMap((name) => [
      { name, file: join(arrays, name, 'array.db') },
      { name, file: join(arrays, name, 'objects.db') },
      { name: `${name}/metering`, file: join(arrays, name, 'metering.db') },
    ]),
  ];
  return candidates.filter(({ file }) => existsSync(file) || existsSync(`${file}.mark`));
}

function timeOf({ madeAt }: DatabaseCopy): string {
  return new Date(madeAt).toISOString().replace('.000', '');
}
