import { pathParams, type Api, type Operation, type Reference } from '@granary/contract';
import { call, type Connection } from '@granary/client';
import { CommandFailure, exitCodes } from '../exit.ts';

type Input = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;

/** `volume-00000001`, `RaidGroup-1`, `vsa-00000001-vc-0`: such a text is the identifier itself. */
const IDENTIFIER = /^(?:[a-z-]+-[0-9a-f]{8}|RaidGroup-\d+|vsa-[0-9a-f]{8}-vc-\d+)$/;

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
  for (const param of pathParams(operation.endpoint.path)) {
    const text = String(input[param]);
    const group = groupNamedBy(api, operation, param);
    const filter = operation.endpoint.params[param]?.listedWith;
    if (group !== undefined && !/^\d+$/.test(text))
      resolved[param] = await numberOf(api, group, connection, text, filter);
  }
  for (const [name, param] of Object.entries(operation.endpoint.params)) {
    const refers = param.refers ?? param.item?.refers;
    if (refers === undefined || resolved[name] === undefined) continue;
    const identify = (text: string) => identifierOf(api, refers, connection, text);
    resolved[name] = await identified(resolved[name], param.kind === 'list', identify);
  }
  return resolved;
}

/** In a path a list is one text with commas. */
async function identified(
  value: unknown,
  isList: boolean,
  identify: (text: string) => Promise<string>,
): Promise<string | string[]> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => identify(String(each))));
  if (!isList) return identify(String(value));
  return (await Promise.all(String(value).split(',').map(identify))).join(',');
}

/** The group whose records a path parameter names, where its list can be asked for one name. */
function groupNamedBy(api: Api, operation: Operation, param: string): string | undefined {
  if (operation.endpoint.params[param]?.kind !== 'integer') return undefined;
  const group = param === 'id' ? operation.group : `${param.replace(/_id$/, '')}s`;
  return api.groups[group]?.['list']?.params['name'] ? group : undefined;
}

/** The records of this name, newest last. */
export async function recordsNamed(
  api: Api,
  group: string,
  connection: Connection,
  name: string,
  filter: Input = {},
): Promise<Fields[]> {
  const records = await listOf(api, group, connection, { ...filter, name });
  return records.filter((record) => record['name'] === name);
}

/** What is no name of a record stays as it is: the service says that there is no such thing. */
async function identifierOf(api: Api, refers: Reference, connection: Connection, text: string): Promise<string> {
  const { group, field } = refers;
  const list = api.groups[group]?.['list'];
  if (IDENTIFIER.test(text) || !list) return text;
  const filter = list.params['display_name'] ? { display_name: text } : {};
  const records = await listOf(api, group, connection, filter);
  const found = records.filter((record) => record['display_name'] === text).map((record) => String(record[field]));
  if (found.length > 1)
    throw new CommandFailure(
      exitCodes.failed,
      `${found.length} ${group} are named ${text}; use an identifier: ${found.join(', ')}.`,
    );
  return found[0] ?? text;
}

async function listOf(api: Api, group: string, connection: Connection, filter: Input): Promise<Fields[]> {
  const list = api.groups[group]?.['list'];
  if (!list) return [];
  const reply = (await call(api, list, connection, filter)) as Fields;
  return (Object.values(reply).find(Array.isArray) as Fields[] | undefined) ?? [];
}

async function numberOf(
  api: Api,
  group: string,
  connection: Connection,
  name: string,
  filter?: Input,
): Promise<number> {
  const found = await recordsNamed(api, group, connection, name, filter);
  const ids = found.map((record) => record['id']).filter((id) => typeof id === 'number');
  const kind = group.replace(/s$/, '');
  if (ids.length === 1) return ids[0] as number;
  if (ids.length > 1)
    throw new CommandFailure(
      exitCodes.failed,
      `${ids.length} ${group} are named ${name}; use a number: ${ids.join(', ')}.`,
    );
  if (found.length > 0)
    throw new CommandFailure(
      exitCodes.failed,
      `The ${kind} ${name} is ${String(found[0]?.['status'])}; try again later.`,
    );
  throw new CommandFailure(exitCodes.notFound, `There is no ${kind} named ${name}.`);
}
