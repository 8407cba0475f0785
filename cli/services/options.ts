import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

export const PORTAL_PORT_DEFAULT = '7400';
export const CLOUD_PORT_DEFAULT = '7401';
export const CLOUD_USER_DEFAULT = 'cloud';
const PORT_MAX = 65_535;
const PASSWORD_LENGTH_MIN = 8;

/** What every service takes. */
export interface ServiceOptions {
  readonly data: string;
  readonly host: string;
  readonly logFile?: string;
}

/** Options may also come from the terminal's environment, which commander would read from the process itself. */
export function fromEnvironment(option: Option, terminal: Terminal, name: string, otherwise?: string): Option {
  option.description += ` (also ${name})`;
  const value = terminal.env[name] || otherwise;
  return value === undefined ? option : option.default(value, otherwise);
}

export function addServiceOptions(command: GranaryCommand, terminal: Terminal): void {
  const data = new Option('--data <folder>', 'Where everything is kept');
  command.addOption(fromEnvironment(data, terminal, 'GRANARY_DATA', './granary-data'));
  command.option('--host <address>', 'Address to listen on', '127.0.0.1');
  command.option(
    '--log-file <file>',
    'Where the log goes; - is standard output (default: granary.log in the data folder)',
  );
}

/** Without a default of its own: a default port moves to the next free one where it is taken. */
export function addPortOption(command: GranaryCommand, terminal: Terminal, otherwise: string): void {
  const what = `Port to listen on; 0 takes a free one (default: ${otherwise}, or a free one where that is taken)`;
  command.addOption(fromEnvironment(new Option('--port <n>', what), terminal, 'GRANARY_PORT'));
}

export function addCloudOptions(command: GranaryCommand): void {
  command.option('--config <file>', 'What this machine offers (default: granary.config.json in the data folder)');
  command.option('--addresses <cidr>', "Range of the arrays' addresses, in place of the config's");
}

export function readPort(text: string, flag: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= PORT_MAX)) throw usageFailure(`${flag} must be a port number from 0 to ${PORT_MAX}, not ${text}.`);
  return port;
}

export function readNamedFile(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailure(exitCodes.failed, `${flag}: ${file} cannot be read (${code}).`, { cause: error });
  }
}

/**
 * The password of the first administrator, checked before anything is made. It leaves the environment, which the
 * processes of arrays inherit.
 */
export function readAdminPassword({ env }: Terminal): string | undefined {
  const password = env['GRANARY_ADMIN_PASSWORD'] || undefined;
  for (const place of [env as Record<string, string | undefined>, process.env]) delete place['GRANARY_ADMIN_PASSWORD'];
  if (password !== undefined && password.length < PASSWORD_LENGTH_MIN)
    throw usageFailure(`GRANARY_ADMIN_PASSWORD must have at least ${PASSWORD_LENGTH_MIN} characters.`);
  return password;
}

/** The folders and files of an installation. */
export function placesOf({ data, logFile }: ServiceOptions) {
  const folder = resolve(data);
  return {
    folder,
    portal: join(folder, 'portal'),
    portalDatabase: join(folder, 'portal', 'portal.db'),
    cloudKey: join(folder, 'cloud', 'admin.key'),
    log: logFile ?? join(folder, 'granary.log'),
  };
}
