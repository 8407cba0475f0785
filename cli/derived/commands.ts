import { operations, type Api, type Endpoint, type FileBody, type Operation } from '@granary/contract';
import { exchange, StillRunning, type Answer, type Connection } from '@granary/client';
import type { Command } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { refusal } from '../output/errors.ts';
import { saveFile } from '../output/files.ts';
import { inCommands } from '../output/wording.ts';
import { showReply } from '../output/reply.ts';
import { FORMATS, readWanted, type OutputOptions, type Wanted } from '../output/wanted.ts';
import { print, printToStderr, type Terminal } from '../terminal.ts';
import { confirm, mustConfirm } from './confirmation.ts';
import { exampleOf } from './example.ts';
import { kebab } from '../names.ts';
import { addParameters, inputOf } from './options.ts';
import { namingOf } from './naming.ts';
import { listOf, resolveNames } from './references.ts';
import { sizeNotes } from './sizes.ts';
import { canWait, shownAfter, subjectOf, waitForWork } from './wait.ts';

/** An API of the contract, and how a command reaches it. */
export interface Target {
  readonly api: Api;
  /** Other names of groups: `user` for `users`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Options beside --url that say where it is: flags and what they mean. */
  readonly places?: readonly (readonly [flags: string, description: string])[];
  /** What one types before the group: `array` in `granary array volumes list`. */
  readonly prefix?: string;
  connect(endpoint: Endpoint, options: PlaceOptions): Connection | Promise<Connection>;
}

export interface PlaceOptions {
  readonly url?: string | undefined;
  readonly array?: string | undefined;
}

/** Options every derived command has, beside the parameters of its endpoint. */
export const OWN_OPTIONS = [
  '--json',
  '--field',
  '--columns',
  '--url',
  '--array',
  '--output',
  '--wait',
  '--wait-timeout',
  '--yes',
  '--debug',
  '--ca',
  '--help',
  '--version',
];

const WAIT_SECONDS_DEFAULT = 300;
const PORTAL_PLACE = ['--url <url>', 'Address of the service (also GRANARY_URL)'] as const;

interface OwnOptions extends PlaceOptions, OutputOptions {
  readonly wait?: true;
  readonly waitTimeout?: string;
  readonly yes?: string;
}

/** Where a derived command comes from. */
export interface Derived {
  readonly target: Target;
  readonly operation: Operation;
}

const origins = new WeakMap<Command, Derived>();

/** Undefined for commands that stand for no operation. */
export function derivedFrom(command: Command): Derived | undefined {
  return origins.get(command);
}

/** One command for each operation of the API, grouped as the contract groups them. */
export function addApi(parent: GranaryCommand, target: Target, terminal: Terminal): void {
  const all = operations(target.api);
  for (const group of Object.keys(target.api.groups)) {
    const own = all.filter((operation) => operation.group === group);
    const command = parent.command(kebab(group));
    command.summary(own.map(({ name }) => kebab(name)).join(', '));
    const alias = target.aliases?.[group];
    if (alias !== undefined) command.alias(alias);
    for (const operation of own) addOperation(command, target, operation, terminal);
  }
}

function addOperation(group: GranaryCommand, target: Target, operation: Operation, terminal: Terminal): void {
  const { endpoint } = operation;
  const command = group.command(kebab(operation.name));
  origins.set(command, { target, operation });
  command.description(inCommands(target.api, endpoint.summary));
  addParameters(command, target.api, endpoint);
  command.optionsGroup('Around the call:');
  if (endpoint.reply.kind === 'file')
    command.option(
      '--output <file>',
      "Where to save the file; - writes it to standard output (default: the server's name)",
    );
  else {
    command.option('--output <format>', `How to print the reply: ${FORMATS.join(', ')} (default: table)`);
    command.option('--columns <a,b>', 'Print these columns, or fields of the API, of tables and CSV');
    command.option('--field <name>', 'Print this field of the record alone, for scripts');
    command.option('--json', 'Print the reply as the API gave it: the same as --output json');
  }
  if (canWait(target.api, operation)) {
    command.option('--wait', `Wait until it is ${endpoint.job?.until.join(' or ')}`);
    command.option('--wait-timeout <seconds>', `How long to wait (default: ${WAIT_SECONDS_DEFAULT})`);
  }
  if (mustConfirm(operation)) command.option('--yes <name>', 'Name of what is destroyed, for use in scripts');
  for (const [flags, description] of target.places ?? [PORTAL_PLACE]) command.option(flags, description);
  command.addHelpText('after', `\nExample:\n  ${exampleOf(operation, target.prefix)}`);
  command.action(async (...given: unknown[]) => {
    const places = given.slice(0, -2) as string[];
    await run(target, operation, { places, options: given.at(-2) as Record<string, unknown> }, terminal);
  });
}

interface Typed {
  readonly places: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

async function run(target: Target, operation: Operation, typed: Typed, terminal: Terminal): Promise<void> {
  const { api } = target;
  const { endpoint } = operation;
  const own = typed.options as OwnOptions;
  const timeoutMs = waitMs(own);
  const shown = own.wait ? shownAfter(api, operation) : endpoint;
  const wanted = readWanted(api, shown, own);
  const connection = await target.connect(endpoint, own);
  const read = await inputOf(endpoint, typed, terminal, (name) => namingOf(api, operation, name) !== undefined);
  const showing = { api, connection, wanted, own, terminal };
  try {
    const input = await resolveNames(api, operation, connection, read);
    await confirm({ api, operation, connection, input, yes: own.yes, terminal });
    for (const note of sizeNotes(endpoint, input)) printToStderr(terminal, note);
    const started = await start({ api, endpoint, connection, input }, own.wait === true);
    if (!own.wait) {
      await printReply(endpoint, started, showing);
      return;
    }
    const subject = subjectOf(operation, read);
    const ended = await waitForWork({ api, operation, connection, input, subject, started, timeoutMs, terminal });
    if (ended) await printReply(shown, ended, showing);
    else if (wanted.format === 'json' || wanted.format === 'yaml') await printReply(endpoint, started, showing);
    else print(terminal, 'Done.');
  } catch (error) {
    if (!(error instanceof StillRunning)) throw refusal(api, endpoint, error);
    print(terminal, error.message);
  }
}

interface Call {
  readonly api: Api;
  readonly endpoint: Endpoint;
  readonly connection: Connection;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Who is going to wait takes an answer that the work goes on as the start of it. */
async function start({ api, endpoint, connection, input }: Call, goesOn: boolean): Promise<Answer> {
  try {
    return await exchange(api, endpoint, connection, input);
  } catch (error) {
    if (!goesOn || !(error instanceof StillRunning)) throw error;
    return { body: {}, value: { message: error.message }, total: undefined };
  }
}

interface Showing {
  readonly api: Api;
  readonly connection: Connection;
  readonly wanted: Wanted;
  readonly own: OwnOptions;
  readonly terminal: Terminal;
}

async function printReply({ reply }: Endpoint, answer: Answer, showing: Showing): Promise<void> {
  const { api, connection, wanted, own, terminal } = showing;
  if (reply.kind === 'file') {
    saveFile(terminal, answer.body as FileBody, own.output);
    return;
  }
  // Who may not list what an identifier stands for sees the identifier.
  const namesOf = (group: string) => listOf(api, group, connection).catch(() => []);
  await showReply(terminal, { api, reply, wanted, ...answer, listOf: namesOf });
}

function waitMs({ waitTimeout = String(WAIT_SECONDS_DEFAULT) }: OwnOptions): number {
  const seconds = Number(waitTimeout);
  if (!(seconds > 0)) throw usageFailure('--wait-timeout must be a number of seconds above 0.');
  return seconds * 1000;
}
