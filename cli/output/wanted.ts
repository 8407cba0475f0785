import type { Api, Endpoint } from '@granary/contract';
import { usageFailure } from '../exit.ts';
import { columnsFor, findColumn, type Column } from './columns/index.ts';
import { shapeOfReply, titleOf, type Shape } from './shape.ts';

/** How a reply is printed: for people, for spreadsheets, for programs. */
export const FORMATS = ['table', 'wide', 'json', 'yaml', 'csv'] as const;
type Format = (typeof FORMATS)[number];

export interface OutputOptions {
  readonly json?: true;
  readonly field?: string;
  readonly columns?: string;
  readonly output?: string;
}

/** What a person asked to see, checked against what the contract says the reply has. */
export interface Wanted {
  readonly format: Format;
  readonly shape: Shape;
  readonly columns?: readonly Column[];
  readonly field?: string;
}

/** Checked before anything is sent: a field that is misspelt must not be noticed after the array was created. */
export function readWanted(api: Api, { reply }: Endpoint, options: OutputOptions): Wanted {
  if (reply.kind === 'file') return { format: 'table', shape: { kind: 'nothing' } };
  const shape = shapeOfReply(reply);
  const format = formatOf(options);
  if (options.field !== undefined) return { format, shape, field: fieldOf(api, shape, options, format) };
  if (options.columns === undefined) return { format, shape };
  if (format === 'json' || format === 'yaml')
    throw usageFailure(`--columns goes with tables and CSV; --output ${format} has every field.`);
  return { format, shape, columns: chosenColumns(api, shape, options.columns) };
}

function formatOf({ json, output }: OutputOptions): Format {
  if (output === undefined) return json ? 'json' : 'table';
  const format = FORMATS.find((name) => name === output.toLowerCase());
  if (format === undefined) throw usageFailure(`--output must be one of ${FORMATS.join(', ')}, not ${output}.`);
  if (json && format !== 'json') throw usageFailure(`--json and --output ${output} contradict each other.`);
  return format;
}

/** A field of the API as it is spelt there; else in any case, or by the heading that a table shows it under. */
function fieldOf(api: Api, shape: Shape, { field = '', columns, output }: OutputOptions, format: Format): string {
  if (columns !== undefined || output !== undefined || format !== 'table')
    throw usageFailure('--field prints one field bare; leave out --columns, --output and --json.');
  if (shape.kind === 'open') return field;
  const fields = 'fields' in shape ? shape.fields : {};
  if (field in fields) return field;
  const titled = Object.keys(fields).find((name) => titleOf(name, fields[name]) === field.toLowerCase());
  if (titled !== undefined) return titled;
  const column = findColumn(field, columnsFor(api, 'title' in shape ? shape.title : undefined), fields);
  if (column && column.value === undefined && column.field in fields) return column.field;
  throw usageFailure(
    `The reply has no field ${field}. Nothing was sent.`,
    listed(
      'It has:',
      Object.keys(fields).map((name) => titleOf(name, fields[name])),
    ),
  );
}

function chosenColumns(api: Api, shape: Shape, columns: string): Column[] {
  if (!('fields' in shape)) throw usageFailure('--columns goes with records; this command prints none.');
  const known = columnsFor(api, shape.title);
  return columns.split(',').map((wanted) => {
    const column = findColumn(wanted, known, shape.fields);
    if (column) return column;
    const titles = [...(known?.main ?? []), ...(known?.more ?? [])].map(({ title }) => title.replaceAll(' ', '-'));
    const fields = Object.keys(shape.fields).filter((field) => !titles.includes(field));
    throw usageFailure(`There is no column ${wanted.trim()}. Nothing was sent.`, [
      ...listed('Columns:', titles),
      ...listed('Fields of the API:', fields),
    ]);
  });
}

function listed(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what} ${names.join(', ')}`];
}
