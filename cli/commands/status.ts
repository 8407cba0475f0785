import { Option } from 'commander';
import { readArrayKeys } from '../array/keys.ts';
import type { GranaryCommand } from '../command.ts';
import { portalConnection } from '../credentials.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { yamlText } from '../output/programs.ts';
import { collectStatus } from '../status/collect.ts';
import { needsAttention } from '../status/report.ts';
import { statusText } from '../status/text.ts';
import { print, type Terminal } from '../terminal.ts';
import { fetchFor } from '../trust.ts';

interface StatusOptions {
  readonly url?: string;
  readonly output: 'table' | 'json' | 'yaml';
}

export function addStatus(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('status');
  command.description('Show what is up, full, failing and waiting, in the portal and the arrays you are signed in to');
  command.option('--url <url>', 'Address of the portal (also GRANARY_URL)');
  const output = new Option('--output <format>', 'How to print it').choices(['table', 'json', 'yaml']);
  command.addOption(output.default('table'));
  command.addHelpText('after', '\nExit code: 0 when nothing is failing or full, 1 when something is.');
  command.action(async (options: StatusOptions) => status(options, terminal));
}

async function status({ url, output }: StatusOptions, terminal: Terminal): Promise<void> {
  const { env } = terminal;
  const portal = portalConnection(env, { url, signedIn: true });
  const report = await collectStatus({
    url: portal.url,
    token: portal.headers?.['x-token'] ?? '',
    keys: readArrayKeys(env),
    fetchFor: (place) => fetchFor(env, place),
  });
  const bad = needsAttention(report).length;
  const whole = { ok: bad === 0, ...report };
  if (output === 'json') print(terminal, JSON.stringify(whole, null, 2));
  else print(terminal, output === 'yaml' ? await yamlText(whole) : statusText(report));
  if (bad > 0)
    throw new CommandFailure(exitCodes.failed, `${bad} ${bad === 1 ? 'thing needs' : 'things need'} attention.`);
}
