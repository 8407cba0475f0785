import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A `Table` as a repository declares it. */
interface MappedTable {
  readonly file: string;
  readonly name: string;
  readonly columns: readonly string[];
}

/** A table that a source file names in SQL. */
interface NamedTable {
  readonly file: string;
  readonly name: string;
}

/** Every `new Table<…>('name', { … })` in the sources below a folder. */
export function mappedTables(folder: string): MappedTable[] {
  return sourcesOf(folder).flatMap(({ file, text }) =>
    [...text.matchAll(/new Table<[^(]*>\(\s*'(\w+)',\s*\{(.*?)\}\);/gs)].map(([, name = '', body = '']) => ({
      file,
      name,
      // Helpers have the column as their first argument; a column that is written out has a `name`.
      columns: [...body.matchAll(/(?:\w+(?:<[^>]*>)?\(|name: )'(\w+)'/g)].map(([, column = '']) => column),
    })),
  );
}

/** Every table of the list that the sources below a folder name after FROM, JOIN, INTO or UPDATE. */
export function tablesInSql(folder: string, tables: readonly string[]): NamedTable[] {
  const known = new Set(tables);
  return sourcesOf(folder).flatMap(({ file, text }) => {
    const names = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)].map(([, name = '']) => name);
    return [...new Set(names)].filter((name) => known.has(name)).map((name) => ({ file, name }));
  });
}

function sourcesOf(folder: string): { file: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ file: relative(folder, path), text: readFileSync(path, 'utf8') }))
    .filter(({ file }) => !/\.test\.ts$|(^|\/)(testing|fixture)\b/.test(file));
}
