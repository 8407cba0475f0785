import { pathParams, type Api, type Endpoint, type Param } from '@granary/contract';
import { Option } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { usageFailure } from '../exit.ts';
import { askSecretly, isInteractive, readSecret, type Terminal } from '../terminal.ts';
import { kebab, optionFlag } from '../names.ts';
import { inCommands } from '../output/wording.ts';
import { allowedValues, readList, readValue, type Reading } from './values.ts';

/** A password has one line; what may be longer, such as a certificate, may have many. */
const LINE_LENGTH_MAX = 4096;
const PLACEHOLDERS: Readonly<Record<Param['kind'], string>> = {
  text: 'text',
  integer: 'n',
  number: 'n',
  boolean: '',
  list: 'a,b',
  json: 'key=n,key=n',
  capacity: 'size',
  file: 'file',
};

/** What commander gathered for an option, before it is read: texts as typed, or the state of a switch. */
type Gathered = readonly string[] | boolean | undefined;

export function addParameters(command: GranaryCommand, api: Api, endpoint: Endpoint): void {
  const inPath = pathParams(endpoint.path);
  for (const name of inPath)
    command.argument(`<${kebab(name)}>`, inCommands(api, endpoint.params[name]?.description ?? ''));
  for (const [name, param] of optionParams(endpoint)) {
    for (const option of optionsOf(api, name, param)) command.addOption(option);
  }
  const required = optionParams(endpoint).filter(([, param]) => isDemanded(param));
  const places = inPath.map((name) => `<${kebab(name)}>`);
  command.usage([...places, ...required.map(([name, param]) => flagsOf(name, param)), '[options]'].join(' '));
}

/** The parameters that are options: all that are not part of the path. */
export function optionParams(endpoint: Endpoint): [string, Param][] {
  const inPath = pathParams(endpoint.path);
  return Object.entries(endpoint.params).filter(([name]) => !inPath.includes(name));
}

function optionsOf(api: Api, name: string, param: Param): Option[] {
  const option = new Option(flagsOf(name, param), describe(api, name, param));
  if (param.kind !== 'boolean')
    return [option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text])];
  return [option, new Option(`--no-${kebab(name)}`).hideHelp()];
}

function flagsOf(name: string, param: Param): string {
  const placeholder = PLACEHOLDERS[param.kind];
  return placeholder === '' ? optionFlag(name) : `${optionFlag(name)} <${placeholder}>`;
}

function describe(api: Api, name: string, param: Param): string {
  const description = inCommands(api, param.description);
  const allowed = allowedValues(param);
  const facts = [
    isDemanded(param) && 'required',
    allowed && `one of: ${allowed.join(', ')}`,
    param.secret && '- reads it from standard input',
    param.kind === 'boolean' && `--no-${kebab(name)} for false`,
    param.default !== undefined && `default: ${String(param.default as Scalar)}`,
  ].filter((fact) => typeof fact === 'string');
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`;
}

type Scalar = string | number | boolean;

function isDemanded(param: Param): boolean {
  return param.presence === 'required';
}

interface Typed {
  /** Values of the path parameters, in the path's order. */
  readonly places: readonly string[];
  /** Commander's options, by its own names for them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The request, made from what was typed; reports everything that is wrong with it at once. */
export async function inputOf(
  endpoint: Endpoint,
  typed: Typed,
  terminal: Terminal,
  isNamed: (name: string) => boolean = () => false,
): Promise<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  const problems: string[] = [];
  const readValue = (name: string, label: string, reading: Reading) => {
    if ('problem' in reading) problems.push(`${label} ${reading.problem}`);
    else input[name] = reading.value;
  };
  for (const [position, name] of pathParams(endpoint.path).entries())
    readValue(name, `<${kebab(name)}>`, readPlace(typed.places[position] ?? ''));
  const secrets = new Secrets(terminal);
  // Secrets last: no prompt for a password that could not be used.
  const secretsLast = optionParams(endpoint).sort(([, a], [, b]) => Number(a.secret ?? 0) - Number(b.secret ?? 0));
  for (const [name, param] of secretsLast) {
    const given = gatheredFor(name, param, typed.options);
    const gathered = param.secret && problems.length === 0 ? await secrets.complete(name, param, given) : given;
    if (gathered !== undefined)
      readValue(name, optionFlag(name), readGathered(gathered, isNamed(name) ? asNames(param) : param));
    else if (isDemanded(param)) problems.push(`${optionFlag(name)} is required`);
  }
  if (problems.length > 0) throw usageFailure('The command is not complete or not right:', problems);
  return input;
}

/** A name may stand for a number in a path, so the service checks the rest. */
function readPlace(text: string): Reading {
  return /^\.{0,2}$/.test(text) ? { problem: 'must name something' } : { value: text };
}

/** A name may stand where the API asks for a number. */
function asNames(param: Param): Param {
  const kind = param.kind === 'list' ? 'list' : 'text';
  return { ...param, kind, schema: {}, ...(param.item && { item: asNames(param.item) }) };
}

function readGathered(gathered: readonly string[] | boolean, param: Param): Reading {
  if (typeof gathered === 'boolean') return { value: gathered };
  return param.kind === 'list' ? readList(gathered, param) : readValue(gathered.at(-1) ?? '', param);
}

function gatheredFor(name: string, param: Param, options: Typed['options']): Gathered {
  return options[new Option(flagsOf(name, param)).attributeName()] as Gathered;
}

/** Secrets need not stand on the command line, where other users of the machine and the shell's history see them. */
class Secrets {
  readonly #terminal: Terminal;
  #stdinTaken = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async complete(name: string, param: Param, gathered: Gathered): Promise<Gathered> {
    if (Array.isArray(gathered) && gathered.at(-1) === '-') {
      if (this.#stdinTaken && !this.#terminal.stdin.isTTY)
        throw usageFailure('Only one option can be read from standard input.');
      this.#stdinTaken = true;
      return [await readSecret(this.#terminal, questionFor(name, param), { hasLines: hasLines(param) })];
    }
    if (gathered !== undefined || !isDemanded(param) || !isInteractive(this.#terminal)) return gathered;
    return [await askSecretly(this.#terminal, questionFor(name, param), { hasLines: hasLines(param) })];
  }
}

function questionFor(name: string, param: Param): string {
  const ending = hasLines(param) ? ', then Ctrl-D' : '';
  return `${param.description} (${optionFlag(name)})${ending}: `;
}

/** What may be as long as a certificate has lines. */
function hasLines({ schema }: Param): boolean {
  return 'maxLength' in schema && Number(schema.maxLength) > LINE_LENGTH_MAX;
}
