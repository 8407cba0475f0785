import { resolve } from 'node:path';
import type { EngineCheck } from '@granary/objects';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { fromEnvironment } from '../services/options.ts';
import { print, type Terminal } from '../terminal.ts';

interface CheckOptions {
  readonly data: string;
}

export function addObjectsCheck(objects: GranaryCommand, terminal: Terminal): void {
  const command = objects.command('check [name]');
  command.description(
    'Prove of stopped object storage that every piece is sound and that index and drives agree; changes nothing',
  );
  const data = new Option('--data <folder>', 'Where Granary keeps everything');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.action(async (name: string | undefined, options: CheckOptions) => check(name, options, terminal));
}

async function check(name: string | undefined, { data }: CheckOptions, terminal: Terminal): Promise<void> {
  const { stoppedArrays } = await import('@granary/cloud');
  const { checkObjectStorage } = await import('@granary/objects');
  const all = await stoppedArrays(resolve(data), 'object_storage');
  const wanted = all.filter((each) => name === undefined || [each.displayName, each.internalName].includes(name));
  if (wanted.length === 0)
    throw new CommandFailure(exitCodes.notFound, `${data} holds no object storage${name ? ` named ${name}` : ''}.`);
  let problems = 0;
  for (const configuration of wanted) {
    const found = await checkObjectStorage(configuration);
    print(terminal, `${configuration.displayName} (${configuration.internalName}): ${verdict(found)}`);
    for (const { what } of found.problems) print(terminal, `  ${what}`);
    problems += found.problemCount;
  }
  if (problems > 0) throw new CommandFailure(exitCodes.failed, `${problems} problems were found.`);
}

function verdict({ problemCount, drives, pieces, marked, segments }: EngineCheck): string {
  const counts = `${drives.length} drives, ${segments} segments, ${pieces.blobs} blobs in ${pieces.pieces} pieces`;
  const waiting = marked === 0 ? '' : `, ${marked} partitions to repair`;
  return `${problemCount === 0 ? 'sound' : 'NOT SOUND'}: ${counts}${waiting}`;
}
