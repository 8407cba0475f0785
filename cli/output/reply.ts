import type { RecordReply } from '@granary/contract';
import { hasColour, print, printToStderr, widthOf, type Terminal } from '../terminal.ts';
import { cellText, isNested, plainText } from './cells.ts';
import { recordTable, rowsTable } from './table.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a reply is about, found by its shape. */
type Shown =
  | { readonly kind: 'rows'; readonly rows: readonly Fields[] }
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'record'; readonly record: Fields };

/** The part of a schema that tells a map, whose keys are data, from a record, whose keys are fields. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
}

/** Tables and plain lines, for people. */
export function showReply(terminal: Terminal, reply: RecordReply, value: unknown, total: number | undefined): void {
  const fields = Object.fromEntries(Object.entries(value as Fields).filter(([name]) => name in reply.fields));
  const { message, ...rest } = fields;
  const subject = subjectOf(rest, reply);
  if (subject) show(terminal, subject, total);
  if (typeof message === 'string') print(terminal, plainText(message));
  else if (!subject) print(terminal, 'Done.');
}

/** One field of the record, or of each record of a list, bare: for scripts. False where there is no such field. */
export function showField(terminal: Terminal, reply: RecordReply, value: unknown, field: string): boolean {
  const subject = subjectOf(
    Object.fromEntries(Object.entries(value as Fields).filter(([name]) => name in reply.fields)),
    reply,
  );
  const records = subject?.kind === 'rows' ? subject.rows : subject?.kind === 'record' ? [subject.record] : [];
  const values = records.filter((record) => field in record).map((record) => record[field]);
  for (const one of values)
    print(terminal, typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one));
  return values.length > 0 || (subject?.kind === 'rows' && records.length === 0);
}

function subjectOf(fields: Fields, reply: RecordReply): Shown | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (isNested(value)) return shownAs(value, reply.fields[name]);
  }
  return Object.keys(fields).length === 0 ? undefined : { kind: 'record', record: fields };
}

function shownAs(value: unknown, shape: Shape | undefined): Shown {
  if (Array.isArray(value))
    return value.every(isNested) ? { kind: 'rows', rows: value as Fields[] } : { kind: 'values', values: value };
  const record = value as Fields;
  if (shape?.patternProperties && Object.values(record).every(isNested)) {
    const rows = Object.entries(record).map(([key, inner]) => ({ key, ...(inner as Fields) }));
    return { kind: 'rows', rows };
  }
  const [only, ...others] = Object.keys(record);
  if (only !== undefined && others.length === 0 && isNested(record[only]))
    return shownAs(record[only], shape?.properties?.[only]);
  return { kind: 'record', record };
}

function show(terminal: Terminal, shown: Shown, total: number | undefined): void {
  const canvas = { width: widthOf(terminal), colour: hasColour(terminal) };
  switch (shown.kind) {
    case 'record':
      print(terminal, recordTable(shown.record, canvas));
      return;
    case 'values':
      for (const value of shown.values) print(terminal, cellText(value));
      return;
    case 'rows': {
      if (shown.rows.length > 0) showRows(terminal, shown.rows, canvas);
      const { length } = shown.rows;
      if (total !== undefined && total > length)
        printToStderr(terminal, `${length} of ${total}; --start and --limit turn the page.`);
      else if (length === 0) print(terminal, 'None.');
    }
  }
}

function showRows(terminal: Terminal, rows: readonly Fields[], canvas: { width: number; colour: boolean }): void {
  const { text, omitted } = rowsTable(rows, canvas);
  print(terminal, text);
  if (omitted.length > 0 && terminal.stderr.isTTY)
    printToStderr(terminal, `${omitted.length} more fields with --json.`);
}
