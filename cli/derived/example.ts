import { pathParams, type Operation, type Param } from '@granary/contract';
import { commandName, optionFlag } from '../names.ts';
import { optionParams } from './options.ts';

/** A command line one can copy: what is needed, with the contract's own example values. */
export function exampleOf(operation: Operation, prefix?: string): string {
  const { endpoint } = operation;
  const places = pathParams(endpoint.path).map((name) => exampleText(endpoint.params[name]));
  const needed = optionParams(endpoint).filter(([, param]) => isNeeded(param));
  const firstSecret = needed.find(([, { secret }]) => secret)?.[0];
  const options = needed
    // Standard input holds one secret; the others are asked for.
    .filter(([name, { secret }]) => !secret || name === firstSecret)
    .map(([name, param]) => `${optionFlag(name)} ${param.secret ? '-' : exampleText(param)}`);
  return ['granary', ...(prefix === undefined ? [] : [prefix]), commandName(operation), ...places, ...options].join(
    ' ',
  );
}

/** Some are required only of some: the description says of which. */
function isNeeded({ presence, kind, description, example }: Param): boolean {
  if (presence === 'required') return kind !== 'boolean';
  return example !== undefined && /\brequired\b/.test(description);
}

function exampleText(param: Param | undefined): string {
  if (param?.kind === 'file') return 'FILE';
  if (param?.kind === 'capacity') return '10G';
  const { example } = param ?? {};
  if (example === undefined || example === null) return '…';
  if (Array.isArray(example)) return quoted(listText(example));
  return quoted(typeof example === 'object' ? structureText(example) : `${example as string | number | boolean}`);
}

function listText(example: readonly unknown[]): string {
  const [first, ...others] = example;
  if (typeof first !== 'object' || first === null) return example.join(',');
  return others.length === 0 ? structureText(first) : JSON.stringify(example);
}

/** Short where it can be, JSON where it cannot. */
function structureText(example: object): string {
  const entries = Object.entries(example);
  if (entries.some(([, value]) => typeof value === 'object')) return JSON.stringify(example);
  return entries.map(([key, value]) => `${key}=${String(value)}`).join(',');
}

/** As a shell reads it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
