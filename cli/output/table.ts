import { styleText } from 'node:util';
import Table from 'cli-table3';
import { cellText, isNested, plainText, shortCellText } from './cells.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How wide the table may be and whether it may be coloured. */
export interface Canvas {
  readonly width: number;
  readonly colour: boolean;
}

/** Columns people look for first, whatever the record; the rest follow as the record has them. */
const FIRST_COLUMNS = [
  'id',
  'name',
  'display_name',
  'username',
  'account_name',
  'key',
  'status',
  'status_message',
  'kind',
  'role',
  'engine',
  'management_url',
  'type',
  'drive_count',
  'drives',
  'progress',
  'enabled',
  'drive_types',
  'engine_types',
];
/** Two spaces of padding and a line beside each cell. */
const COLUMN_FRAME_WIDTH = 3;
const VALUE_WIDTH_MIN = 20;

export interface RowsTable {
  readonly text: string;
  /** Columns there was no room for. */
  readonly omitted: readonly string[];
}

/** Many records, one a row, with as many columns as fit. */
export function rowsTable(rows: readonly Fields[], canvas: Canvas): RowsTable {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = fittingColumns(all, rows, canvas.width);
  const table = newTable(canvas, columns);
  for (const row of rows) table.push(columns.map((column) => shortCellText(fieldOf(row, column))));
  return { text: table.toString(), omitted: all.filter((column) => !columns.includes(column)) };
}

/** One record, a field a row; fields that hold nothing are left out. */
export function recordTable(record: Fields, canvas: Canvas): string {
  const entries = Object.entries(record)
    .map(([field, value]) => [plainText(field), cellText(value)] as const)
    .filter(([, value]) => value !== '');
  const fieldWidth = Math.max(...['field', ...entries.map(([field]) => field)].map((field) => field.length));
  const room = canvas.width - 1 - fieldWidth - 2 * COLUMN_FRAME_WIDTH;
  const table = newTable(canvas, ['field', 'value']);
  for (const [field, value] of entries) table.push([field, wrap(value, Math.max(room, VALUE_WIDTH_MIN))]);
  return table.toString();
}

/** Broken into lines between words; a word that is longer than a line is broken, too. */
function wrap(text: string, width: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(...(word.match(new RegExp(`.{1,${width}}`, 'gu')) ?? []));
  }
  return lines.filter((line) => line !== '').join('\n');
}

function newTable({ colour }: Canvas, head: string[]): Table.Table {
  // The table's own colours depend on what it thinks of standard output; the canvas knows better.
  const titles = colour ? head.map((title) => styleText('bold', title, { validateStream: false })) : head;
  return new Table({ head: titles, style: { head: [], border: [], compact: true } });
}

/** The most wanted columns that fit, shown in the order of their importance; one is always shown. */
function fittingColumns(all: readonly string[], rows: readonly Fields[], width: number): string[] {
  const chosen: string[] = [];
  let room = width - 1;
  for (const column of byImportance(all, rows)) {
    const widest = Math.max(column.length, ...rows.map((row) => shortCellText(fieldOf(row, column)).length));
    if (widest + COLUMN_FRAME_WIDTH > room && chosen.length > 0) continue;
    chosen.push(column);
    room -= widest + COLUMN_FRAME_WIDTH;
  }
  return chosen;
}

/** First what names and describes a record, then plain fields, then nested ones; empty columns say nothing. */
function byImportance(all: readonly string[], rows: readonly Fields[]): string[] {
  const listed = all.filter((column) => rows.some((row) => cellText(fieldOf(row, column)) !== ''));
  const rank = (column: string) => {
    const first = FIRST_COLUMNS.indexOf(column);
    if (first >= 0) return first;
    return FIRST_COLUMNS.length + (rows.some((row) => isNested(fieldOf(row, column))) ? 1 : 0);
  };
  return listed.sort((a, b) => rank(a) - rank(b));
}

/** Its own field: keys are data at times, and every object inherits a `constructor`. */
function fieldOf(row: Fields, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}
