import type { Api, Operation } from '@granary/contract';
import { call, type Connection } from '@granary/client';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { askLine, isInteractive, type Terminal } from '../terminal.ts';

interface Destruction {
  readonly api: Api;
  readonly operation: Operation;
  readonly connection: Connection;
  readonly input: Readonly<Record<string, unknown>>;
  /** The name as a script gave it. */
  readonly yes: string | undefined;
  readonly terminal: Terminal;
}

type Fields = Readonly<Record<string, unknown>>;

/** Says what would be lost; undefined when nothing would, and no confirmation is needed. */
type Loss = (destruction: Destruction) => Promise<string | undefined>;

/** What destroys a lot is done only after the name of what goes has been typed. */
const CONFIRMED: Readonly<Record<string, Loss>> = {
  'arrays.delete': lossOfDelete,
  'arrays.purge': () => Promise.resolve('is removed with all its data, for good'),
};

export function mustConfirm({ id }: Operation): boolean {
  return CONFIRMED[id] !== undefined;
}

/** Throws, before anything is done, unless the person meant it. */
export async function confirm(destruction: Destruction): Promise<void> {
  const { operation, yes, terminal } = destruction;
  const loss = await CONFIRMED[operation.id]?.(destruction);
  if (loss === undefined && yes === undefined) return;
  const name = await nameOf(destruction);
  const title = `Array ${name}`;
  if (yes !== undefined) {
    if (yes === name) return;
    throw usageFailure(`--yes says ${yes}, but the array is named ${name}. Nothing was done.`);
  }
  if (!isInteractive(terminal)) throw usageFailure(`${title} ${loss}. Say --yes ${quoted(name)} if you mean it.`);
  const typed = await askLine(terminal, `${title} ${loss}.\nType its name to go on: `);
  if (typed.trim() !== name) throw new CommandFailure(exitCodes.failed, 'That is not its name. Nothing was done.');
}

async function lossOfDelete(destruction: Destruction): Promise<string | undefined> {
  const {
    known,
    volumes,
    attached_volumes: attached,
    accounts,
    containers,
    objects,
  } = await read(destruction, 'getContents');
  if (known !== true) return 'does not say what it holds';
  const held = [
    counted(volumes, 'volume', Number(attached) > 0 ? ` (${String(attached)} attached to servers)` : ''),
    counted(accounts, 'account'),
    counted(containers, 'bucket'),
    counted(objects, 'object'),
  ].filter((text) => text !== undefined);
  return held.length === 0 ? undefined : `holds ${held.join(', ')}`;
}

async function nameOf(destruction: Destruction): Promise<string> {
  return String((await read(destruction, 'get'))['name']);
}

/** What another operation of the group says of the same thing. */
async function read({ api, operation, connection, input }: Destruction, name: string): Promise<Fields> {
  const endpoint = api.groups[operation.group]?.[name];
  if (!endpoint) throw new Error(`There is no ${operation.group}.${name}`);
  const { data } = (await call(api, endpoint, connection, { array_id: input['array_id'] })) as { data: Fields };
  return data;
}

function counted(count: unknown, what: string, more = ''): string | undefined {
  if (typeof count !== 'number' || count === 0) return undefined;
  return `${count} ${what}${count === 1 ? '' : 's'}${more}`;
}

/** As a shell takes it. */
function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}
