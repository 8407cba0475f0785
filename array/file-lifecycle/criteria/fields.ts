import type { ListedFile } from '../../engine/shares.ts';
import { CriteriaProblem, durationOf, flagOf, idOf, sizeOf, timeOf, wordsOf } from './operands.ts';

export type Value = string | number | boolean;

/** What names in criteria stand for at this moment. */
export interface CriteriaContext {
  readonly nowMs: number;
  /** Identifier of a category, by that or by what people call it. */
  readonly category: (name: string) => string | undefined;
  /** Of an extension in lower case. */
  readonly categoryOf: (extension: string) => string | undefined;
  readonly uid: (user: string) => number | undefined;
  readonly gid: (group: string) => number | undefined;
}

/** Something of a file that criteria may ask about. */
export interface Field {
  readonly kind: 'text' | 'number' | 'flag' | 'choice';
  /** Undefined where a file has none. */
  readonly read: (file: ListedFile) => Value | undefined;
  /** What a file's value is compared with; throws a `CriteriaProblem`. */
  readonly operand: (value: unknown) => Value;
}

type Times = 'accessedAt' | 'modifiedAt' | 'changedAt' | 'createdAt';
type Make = (name: string, context: CriteriaContext) => Field;

const time =
  (key: Times): Make =>
  (name) => ({ kind: 'number', read: (file) => file[key], operand: (value) => timeOf(name, value) });

const age =
  (key: Times): Make =>
  (name, { nowMs }) => ({
    kind: 'number',
    read: (file) => nowMs - file[key],
    operand: (value) => durationOf(name, value),
  });

const makers: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['path', (name) => ({ kind: 'text', read: ({ path }) => path, operand: (value) => wordsOf(name, value) })],
  ['name', (name) => ({ kind: 'text', read: nameOf, operand: (value) => wordsOf(name, value) })],
  ['extension', (name) => ({ kind: 'text', read: extensionOf, operand: (value) => plain(wordsOf(name, value)) })],
  ['category', category],
  ['size', (name) => ({ kind: 'number', read: ({ sizeBytes }) => sizeBytes, operand: (value) => sizeOf(name, value) })],
  ['uid', (name) => ({ kind: 'number', read: ({ uid }) => uid, operand: (value) => idOf(name, value) })],
  ['gid', (name) => ({ kind: 'number', read: ({ gid }) => gid, operand: (value) => idOf(name, value) })],
  [
    'owner',
    (name, { uid }) => ({
      kind: 'choice',
      read: (file) => file.uid,
      operand: (value) => accountOf(name, value, 'user', uid),
    }),
  ],
  [
    'group',
    (name, { gid }) => ({
      kind: 'choice',
      read: (file) => file.gid,
      operand: (value) => accountOf(name, value, 'group', gid),
    }),
  ],
  ['archived', (name) => ({ kind: 'flag', read: (file) => file.isArchived, operand: (value) => flagOf(name, value) })],
  ...['accessed', 'modified', 'changed', 'created'].flatMap((what): [string, Make][] => [
    [`${what}_at`, time(`${what}At` as Times)],
    [`${what}_age`, age(`${what}At` as Times)],
  ]),
]);

/** As `stat` calls them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['atime', 'accessed_at'],
  ['mtime', 'modified_at'],
  ['ctime', 'changed_at'],
  ['btime', 'created_at'],
  ['user', 'owner'],
]);

export function fieldOf(name: string, context: CriteriaContext): Field {
  const make = makers.get(aliases.get(name) ?? name);
  if (make) return make(name, context);
  throw new CriteriaProblem(
    `names a field that files do not have, ${quoted(name)}: they have ${[...makers.keys()].join(', ')}`,
  );
}

/** The last part of its path. */
export function nameOf({ path }: Pick<ListedFile, 'path'>): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** In lower case, without the dot; a name that only begins with a dot has none. */
export function extensionOf({ path }: Pick<ListedFile, 'path'>): string | undefined {
  const dot = path.lastIndexOf('.');
  const start = path.lastIndexOf('/') + 1;
  return dot > start && dot < path.length - 1 ? path.slice(dot + 1).toLowerCase() : undefined;
}

function plain(extension: string): string {
  return extension.replace(/^\./, '').toLowerCase();
}

function category(name: string, context: CriteriaContext): Field {
  return {
    kind: 'choice',
    read: (file) => {
      const extension = extensionOf(file);
      return extension === undefined ? undefined : context.categoryOf(extension);
    },
    operand: (value) => {
      const wanted = wordsOf(name, value);
      const found = context.category(wanted);
      if (found === undefined) throw new CriteriaProblem(`names a category that is not there, ${quoted(wanted)}`);
      return found;
    },
  };
}

function accountOf(field: string, value: unknown, what: string, look: (name: string) => number | undefined): number {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))) return idOf(field, value);
  const wanted = wordsOf(field, value);
  const id = look(wanted);
  if (id !== undefined) return id;
  throw new CriteriaProblem(`names a NAS ${what} that is not there, ${quoted(wanted)}; its number does as well`);
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
