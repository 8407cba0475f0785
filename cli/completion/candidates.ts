import type { Command } from 'commander';
import { pathParams, type Operation } from '@granary/contract';
import { optionFlag } from '../names.ts';
import { cellText } from '../output/cells.ts';
import { columnsFor } from '../output/columns/index.ts';
import { shapeOfReply } from '../output/shape.ts';
import { FORMATS } from '../output/wanted.ts';
import { derivedFrom, type Derived } from '../derived/commands.ts';
import { namingOf } from '../derived/naming.ts';
import { listOf } from '../derived/references.ts';
import { allowedValues } from '../derived/values.ts';

/** What may stand where the cursor is. */
export interface Cursor {
  readonly command: Command;
  /** Arguments and options before it, as far as they are known. */
  readonly places: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value it is. */
  readonly valueOf: string | undefined;
  readonly current: string;
}

/** Reads the words as the command line would; the last is the one to complete. */
export function cursorOf(program: Command, words: readonly string[]): Cursor {
  let command = program;
  let valueOf: string | undefined;
  const places: string[] = [];
  const options: Record<string, string> = {};
  for (const word of words.slice(0, -1)) {
    if (valueOf !== undefined) {
      options[valueOf] = word;
      valueOf = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split(/=(.*)/s);
      if (value !== undefined) options[flag] = value;
      else if (takesValue(command, flag)) valueOf = flag;
    } else {
      const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
      if (next && places.length === 0) command = next;
      else places.push(word);
    }
  }
  return { command, places, options, valueOf, current: words.at(-1) ?? '' };
}

function takesValue(command: Command, flag: string): boolean {
  return command.options.some((option) => option.long === flag && (option.required || option.optional));
}

/** Candidates that begin with what was typed. */
export async function candidatesAt(cursor: Cursor): Promise<string[]> {
  const { command, current } = cursor;
  const [, flag = '', value = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (cursor.valueOf === undefined && takesValue(command, flag)) {
    const values = await candidatesAt({ ...cursor, valueOf: flag, current: value });
    return values.map((each) => `${flag}=${each}`);
  }
  const all = await everything(cursor);
  return [...new Set(all)].filter((each) => each !== '' && each.startsWith(current));
}

async function everything(cursor: Cursor): Promise<readonly string[]> {
  const { command, valueOf, current, places } = cursor;
  const derived = derivedFrom(command);
  if (valueOf !== undefined) return valuesOf(cursor, derived, valueOf);
  if (current.startsWith('-')) return command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
  if (command.commands.length > 0) return names;
  const param = derived && pathParams(derived.operation.endpoint.path)[places.length];
  return derived && param !== undefined ? namesFor(cursor, derived, param) : [];
}

async function valuesOf(cursor: Cursor, derived: Derived | undefined, flag: string): Promise<readonly string[]> {
  const choices = cursor.command.options.find(({ long }) => long === flag)?.argChoices;
  if (choices) return choices;
  if (!derived) return [];
  const { operation, target } = derived;
  const { reply, params } = operation.endpoint;
  const shape = reply.kind === 'record' ? shapeOfReply(reply) : undefined;
  const fields = shape && 'fields' in shape ? shape : undefined;
  if (flag === '--output') return reply.kind === 'record' ? FORMATS : [];
  if (flag === '--field') return Object.keys(fields?.fields ?? {});
  if (flag === '--columns') {
    const columns = columnsFor(target.api, fields?.title);
    const titles = [...(columns?.main ?? []), ...(columns?.more ?? [])].map(({ title }) => title.replaceAll(' ', '-'));
    return titles.length > 0 ? titles : Object.keys(fields?.fields ?? {});
  }
  const name = Object.keys(params).find((each) => optionFlag(each) === flag);
  if (name === undefined) return [];
  const param = params[name];
  return (param && allowedValues(param)) ?? namesFor(cursor, derived, name);
}

/** Names from the server; those of a part need what it is a part of, which was typed before. */
async function namesFor(
  { places, options }: Cursor,
  { target, operation }: Derived,
  name: string,
): Promise<readonly string[]> {
  const naming = namingOf(target.api, operation, name);
  if (!naming) return [];
  const list = target.api.groups[naming.group]?.['list'];
  if (!list) return [];
  const connection = await target.connect(list, { url: options['--url'], array: options['--array'] });
  const input = naming.asked(typedSoFar(operation, places));
  const records = await listOf(target.api, naming.group, { ...connection, timeoutMs: ANSWER_MS_MAX }, input);
  return records.map((record) => cellText(record[naming.labels[0] ?? '']) || cellText(record[naming.id]));
}

function typedSoFar({ endpoint }: Operation, places: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(pathParams(endpoint.path).map((name, index) => [name, places[index]]));
}

/** A person waits for it with a finger on the key. */
const ANSWER_MS_MAX = 1_500;
