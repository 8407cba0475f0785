import { styleText } from 'node:util';
import Table from 'cli-table3';

/** Where a table goes: boxes and a limited width for people, plain columns for pipes. */
export interface Canvas {
  /** Undefined where nothing limits it. */
  readonly width: number | undefined;
  readonly boxes: boolean;
  readonly colour: boolean;
}

/** Titles and texts, a row each, in the order of importance of the columns. */
export interface Grid {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface DrawnTable {
  readonly text: string;
  /** Titles there was no room for. */
  readonly omitted: readonly string[];
}

const CELL_LENGTH_MAX = 40;
/** Two spaces of padding and a line beside each cell. */
const COLUMN_FRAME_WIDTH = 3;
const GAP = '  ';
const VALUE_WIDTH_MIN = 20;

/** Many records, one a row, with as many columns as fit. */
export function drawRows(grid: Grid, canvas: Canvas): DrawnTable {
  const isLimited = canvas.width !== undefined;
  const shown = isLimited ? { ...grid, rows: grid.rows.map((row) => row.map(short)) } : grid;
  const fitting = isLimited ? fittingColumns(shown, canvas) : grid.titles.map((_, index) => index);
  const titles = fitting.map((index) => grid.titles[index] ?? '');
  const rows = shown.rows.map((row) => fitting.map((index) => row[index] ?? ''));
  const text = canvas.boxes ? boxed({ titles, rows }, canvas) : aligned({ titles: titles.map(upper), rows });
  return { text, omitted: grid.titles.filter((_, index) => !fitting.includes(index)) };
}

/** One record, a field a row. */
export function drawRecord(entries: readonly (readonly [string, string])[], canvas: Canvas): string {
  const fieldWidth = Math.max(...['field', ...entries.map(([field]) => field)].map((field) => field.length));
  if (!canvas.boxes) return aligned({ titles: [], rows: entries });
  const room = (canvas.width ?? Infinity) - 1 - fieldWidth - 2 * COLUMN_FRAME_WIDTH;
  const rows = entries.map(([field, value]) => [field, wrap(value, Math.max(room, VALUE_WIDTH_MIN))]);
  return boxed({ titles: ['field', 'value'], rows }, canvas);
}

function short(text: string): string {
  return text.length <= CELL_LENGTH_MAX ? text : `${text.slice(0, CELL_LENGTH_MAX - 1)}…`;
}

function upper(title: string): string {
  return title.toUpperCase();
}

/** The most wanted columns that fit, by their places; one is always shown. */
function fittingColumns({ titles, rows }: Grid, { width = Infinity, boxes }: Canvas): number[] {
  const frame = boxes ? COLUMN_FRAME_WIDTH : GAP.length;
  const chosen: number[] = [];
  let room = width - 1;
  for (const [index, title] of titles.entries()) {
    const widest = Math.max(title.length, ...rows.map((row) => (row[index] ?? '').length));
    if (widest + frame > room && chosen.length > 0) continue;
    chosen.push(index);
    room -= widest + frame;
  }
  return chosen;
}

function boxed({ titles, rows }: Grid, { colour }: Canvas): string {
  // The table's own colours depend on what it thinks of standard output; the canvas knows better.
  const head = colour ? titles.map((title) => styleText('bold', title, { validateStream: false })) : [...titles];
  const table = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

/** Two spaces between columns, so that a script can tell them apart. */
function aligned({ titles, rows }: Grid): string {
  const lines = titles.length === 0 ? rows : [titles, ...rows];
  const widths = (lines[0] ?? []).map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
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
