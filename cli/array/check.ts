import { resolve } from 'node:path';
import type { ArrayCheck } from '@granary/array';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { fromEnvironment } from '../services/options.ts';
import { print, type Terminal } from '../terminal.ts';

interface CheckOptions {
  readonly data: string;
}

export function addArrayCheck(array: GranaryCommand, terminal: Terminal): void {
  const command = array.command('check [name]');
  command.description(
    'Prove of stopped arrays that every byte is sound and that records and bytes agree; changes nothing',
  );
  const data = new Option('--data <folder>', 'Where Granary keeps everything');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.action(async (name: string | undefined, options: CheckOptions) => check(name, options, terminal));
}

async function check(name: string | undefined, { data }: CheckOptions, terminal: Terminal): Promise<void> {
  const { stoppedArrays } = await import('@granary/cloud');
  const { checkArray } = await import('@granary/array');
  const all = await stoppedArrays(resolve(data));
  const wanted = all.filter((each) => name === undefined || [each.displayName, each.internalName].includes(name));
  if (wanted.length === 0)
    throw new CommandFailure(exitCodes.notFound, `${data} holds no storage array${name ? ` named ${name}` : ''}.`);
  let problems = 0;
  for (const configuration of wanted) {
    const found = await checkArray(configuration);
    print(terminal, `${configuration.displayName} (${configuration.internalName}): ${verdict(found)}`);
    for (const problem of found.problems) print(terminal, `  ${problem}`);
    problems += found.problems.length;
  }
  if (problems > 0) throw new CommandFailure(exitCodes.failed, `${problems} problems were found.`);
}

function verdict({ problems, groups, pools, volumes, snapshots, unfinishedJobs }: ArrayCheck): string {
  const counts = `${groups} RAID groups, ${pools} pools, ${volumes} volumes, ${snapshots} snapshots`;
  const jobs = unfinishedJobs === 0 ? '' : `, ${unfinishedJobs} jobs to go on with`;
  return `${problems.length === 0 ? 'sound' : 'NOT SOUND'}: ${counts}${jobs}`;
}
