import type { Api, Operation } from '@granary/contract';
import { ApiError, call, type Connection } from '@granary/client';
import { CommandFailure, exitCodes } from '../exit.ts';
import { cellText } from '../output/cells.ts';
import { namingOf, type Naming } from './naming.ts';

type Input = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * People know things by their name, the API by their number or identifier. Where a parameter asks for one of something
 * that can be listed, the name does as well.
 */
export async function resolveNames(
  api: Api,
  operation: Operation,
  connection: Connection,
  input: Input,
): Promise<Record<string, unknown>> {
  const resolved = { ...input };
  for (const [name, param] of Object.entries(operation.endpoint.params)) {
    const naming = resolved[name] === undefined ? undefined : namingOf(api, operation, name);
    if (naming === undefined) continue;
    const isNumber = (param.item ?? param).kind === 'integer';
    const identify = (text: string) => identifierOf(api, naming, connection, { text, input: resolved, isNumber });
    resolved[name] = await identified(resolved[name], param.kind === 'list', identify);
  }
  return resolved;
}

/** In a path a list is one text with commas. */
async function identified(
  value: unknown,
  isList: boolean,
  identify: (text: string) => Promise<unknown>,
): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => identify(String(each))));
  if (!isList) return identify(String(value));
  return (await Promise.all(String(value).split(',').map(identify))).join(',');
}

interface Given {
  readonly text: string;
  readonly input: Input;
  readonly isNumber: boolean;
}

/** What is no name of a record stays as it is: the service says that there is no such thing. */
async function identifierOf(
  api: Api,
  naming: Naming,
  connection: Connection,
  { text, input, isNumber }: Given,
): Promise<unknown> {
  if (naming.identifier.test(text)) return isNumber ? Number(text) : text;
  const { group, id, labels } = naming;
  const filter = { ...naming.asked(input), ...nameFilter(api, naming, text) };
  const records = await listOf(api, group, connection, filter).catch((error: unknown) => {
    // Who may not see the list gives identifiers, of whatever form; the call itself says what is wrong with them.
    if (isNumber || !(error instanceof ApiError)) throw error;
    return [];
  });
  const found = records.filter((record) => labels.some((label) => record[label] === text));
  const ids = new Set(found.map((record) => cellText(record[id])).filter((one) => one !== ''));
  if (ids.size > 1) throw ambiguous(group, text, found, naming);
  const [only] = ids;
  if (only !== undefined) return isNumber ? Number(only) : only;
  const kind = oneOf(group);
  if (found.length > 0)
    throw new CommandFailure(
      exitCodes.failed,
      `The ${kind} ${text} is ${String(found[0]?.['status'])}; try again later.`,
    );
  if (isNumber) throw new CommandFailure(exitCodes.notFound, `There is no ${kind} named ${text}.`);
  return text;
}

/** A list that can be asked for one name is not read whole. */
function nameFilter(api: Api, { group, labels }: Naming, text: string): Input {
  const [label = ''] = labels;
  return labels.length === 1 && api.groups[group]?.['list']?.params[label] ? { [label]: text } : {};
}

function ambiguous(group: string, text: string, found: readonly Fields[], { id }: Naming): CommandFailure {
  const details = found.map((record) => [String(record[id]), ...traitsOf(record)].join('  '));
  const message = `${found.length} ${inWords(group)} are named ${text}; give one of these in place of the name:`;
  return new CommandFailure(exitCodes.usage, message, { details });
}

/** What tells records of one name apart. */
function traitsOf(record: Fields): string[] {
  const { objs_user: user } = (record['objs_data'] ?? {}) as { objs_user?: Fields };
  const account = user?.['account_name'] ?? record['account_name'];
  const traits = [
    account === undefined ? undefined : `of ${cellText(account)}`,
    record['username'],
    record['status'],
    record['pool_display_name'] ?? record['volume_display_name'],
    record['created_at'] ?? record['time_created_gmt'],
  ];
  return traits.map(cellText).filter((trait) => trait !== '');
}

/** The records of this name, newest last. */
export async function recordsNamed(
  api: Api,
  group: string,
  connection: Connection,
  name: string,
): Promise<readonly Fields[]> {
  const records = await listOf(api, group, connection, { name });
  return records.filter((record) => record['name'] === name);
}

/** All records of a group; none where it has no list. */
export async function listOf(
  api: Api,
  group: string,
  connection: Connection,
  input: Input = {},
): Promise<readonly Fields[]> {
  const list = api.groups[group]?.['list'];
  if (!list) return [];
  const reply = (await call(api, list, connection, input)) as Fields;
  return recordsIn(reply) ?? [];
}

function recordsIn(reply: Fields): readonly Fields[] | undefined {
  const values = Object.values(reply);
  const found = values.find(Array.isArray) as Fields[] | undefined;
  if (found) return found;
  const [inner] = values.filter((value) => typeof value === 'object' && value !== null);
  return inner ? recordsIn(inner as Fields) : undefined;
}

/** `provider group` for `providerGroups`. */
function oneOf(group: string): string {
  return inWords(group).replace(/ies$/, 'y').replace(/s$/, '');
}

function inWords(group: string): string {
  return group.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`);
}
