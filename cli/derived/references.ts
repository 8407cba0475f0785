import { pathParams, type Api, type Operation } from '@granary/contract';
import { call, type Connection } from '@granary/client';
import { CommandFailure, exitCodes } from '../exit.ts';

type Input = Readonly<Record<string, unknown>>;

/**
 * People know an array by its name, the API by its number. Where a path asks for the number of something that can be
 * listed by name, a name does as well.
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
    if (group !== undefined && !/^\d+$/.test(text)) resolved[param] = await numberOf(api, group, connection, text);
  }
  return resolved;
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
): Promise<Record<string, unknown>[]> {
  const list = api.groups[group]?.['list'];
  if (!list) return [];
  const reply = (await call(api, list, connection, { name })) as Record<string, unknown>;
  const records = Object.values(reply).find(Array.isArray) as Record<string, unknown>[] | undefined;
  return (records ?? []).filter((record) => record['name'] === name);
}

async function numberOf(api: Api, group: string, connection: Connection, name: string): Promise<number> {
  const found = await recordsNamed(api, group, connection, name);
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
