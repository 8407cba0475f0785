import type { Api } from '@granary/contract';
import { arrayColumns } from './array.ts';
import type { Column, Columns, ColumnsByRecord } from './column.ts';
import { objectsColumns } from './objects.ts';
import { portalColumns } from './portal.ts';

const columnsOf: Readonly<Record<string, ColumnsByRecord>> = {
  portal: portalColumns,
  array: arrayColumns,
  objects: objectsColumns,
};

/** What lists of this record show; undefined where there is no choice, and the record's own fields stand. */
export function columnsFor({ name }: Api, title: string | undefined): Columns | undefined {
  return title === undefined ? undefined : columnsOf[name]?.[title];
}

/** The column of this title or field; undefined where the record has neither. */
export function findColumn(
  wanted: string,
  columns: Columns | undefined,
  fields: Readonly<Record<string, unknown>>,
): Column | undefined {
  const title = plain(wanted);
  const known = [...(columns?.main ?? []), ...(columns?.more ?? [])].find((column) => plain(column.title) === title);
  if (known) return { ...known, ifAny: false };
  const field = Object.keys(fields).find((name) => plain(name) === title);
  return field === undefined ? undefined : { title: field, field };
}

/** `attached to`, `attached-to` and `attached_to` are one. */
function plain(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-');
}

export type { Column, Columns } from './column.ts';
