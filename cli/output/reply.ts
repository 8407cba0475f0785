import type { Api, RecordReply } from '@granary/contract';
import { hasColour, isWatched, print, printToStderr, widthOf, type Terminal } from '../terminal.ts';
import { cellText, isNested, plainText } from './cells.ts';
import { columnsFor, type Column } from './columns/index.ts';
import { csvText, yamlText } from './programs.ts';
import { titleOf, type Schemas } from './shape.ts';
import { drawRecord, drawRows, type Canvas } from './table.ts';
import { fieldText } from './units.ts';
import type { Wanted } from './wanted.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A reply and what is asked of it. */
export interface Showing {
  readonly api: Api;
  readonly reply: RecordReply;
  readonly wanted: Wanted;
  /** The body as the API gave it, and what the handler returned. */
  readonly body: unknown;
  readonly value: unknown;
  readonly total: number | undefined;
  /** The records of a group, to show display names for identifiers. */
  readonly listOf: (group: string) => Promise<readonly Fields[]>;
}

/** What a reply is about, found by its shape. */
type Subject =
  | { readonly kind: 'rows'; readonly rows: readonly Fields[] }
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'record'; readonly record: Fields };

/** The part of a schema that tells a map, whose keys are data, from a record, whose keys are fields. */
interface Keyed {
  readonly properties?: Readonly<Record<string, Keyed>>;
  readonly patternProperties?: Readonly<Record<string, Keyed>>;
}

export async function showReply(terminal: Terminal, showing: Showing): Promise<void> {
  const { reply, wanted, value } = showing;
  const fields = Object.fromEntries(Object.entries(value as Fields).filter(([name]) => name in reply.fields));
  const text = await textForPrograms(showing, fields);
  if (text !== undefined) {
    print(terminal, text);
    return;
  }
  if (wanted.field !== undefined) {
    showField(terminal, subjectOf(fields, reply), wanted.field);
    return;
  }
  const { message, ...rest } = withoutEmptyErrors(fields);
  const subject = subjectOf(rest, reply);
  if (subject) await showSubject(terminal, subject, showing);
  remindOfSecrets(terminal, rest, reply);
  if (typeof message === 'string') print(terminal, plainText(message));
  else if (!subject) print(terminal, 'Done.');
}

/** What could not be done, part by part: an empty list says that all was. */
function withoutEmptyErrors({ errors, ...others }: Fields): Fields {
  const isEmpty = errors === undefined || (Array.isArray(errors) && errors.length === 0);
  return isEmpty ? others : { ...others, errors };
}

async function textForPrograms({ wanted, body, reply }: Showing, fields: Fields): Promise<string | undefined> {
  if (wanted.format === 'json') return JSON.stringify(body, null, 2);
  if (wanted.format === 'yaml') return yamlText(body);
  if (wanted.format !== 'csv') return undefined;
  const { message: _, ...rest } = fields;
  return csvOf(subjectOf(rest, reply) ?? { kind: 'record', record: fields }, wanted);
}

/** One field of the record, or of each record of a list, bare: for scripts. */
function showField(terminal: Terminal, subject: Subject | undefined, field: string): void {
  const records = subject?.kind === 'rows' ? subject.rows : subject?.kind === 'record' ? [subject.record] : [];
  for (const record of records) {
    const value = fieldOf(record, field);
    print(
      terminal,
      isNested(value) ? JSON.stringify(value) : String((value as string | number | boolean | null) ?? ''),
    );
  }
}

function subjectOf(fields: Fields, reply: RecordReply): Subject | undefined {
  for (const [name, value] of Object.entries(fields)) {
    if (!isNested(value)) continue;
    const subject = subjectIn(value, reply.fields[name]);
    if (subject.kind !== 'record') return subject;
    // A secret that stands beside what it belongs to.
    const beside = Object.entries(fields).filter(([other, text]) => isShownOnce(reply, other) && text !== null);
    return { kind: 'record', record: { ...subject.record, ...Object.fromEntries(beside) } };
  }
  return Object.keys(fields).length === 0 ? undefined : { kind: 'record', record: fields };
}

function isShownOnce({ fields }: RecordReply, name: string): boolean {
  // One that may be null is a union.
  return /shown this once/.test(JSON.stringify(fields[name] ?? ''));
}

function remindOfSecrets(terminal: Terminal, fields: Fields, reply: RecordReply): void {
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' && isShownOnce(reply, name))
      printToStderr(terminal, `The ${name.replaceAll('_', ' ')} is shown only now; keep it.`);
}

function subjectIn(value: unknown, schema: Keyed | undefined): Subject {
  if (Array.isArray(value))
    return value.every(isNested) ? { kind: 'rows', rows: value as Fields[] } : { kind: 'values', values: value };
  const record = value as Fields;
  if (schema?.patternProperties && Object.values(record).every(isNested)) {
    const rows = Object.entries(record).map(([key, inner]) => ({ key, ...(inner as Fields) }));
    return { kind: 'rows', rows };
  }
  const [only, ...others] = Object.keys(record);
  if (only !== undefined && others.length === 0 && isNested(record[only]))
    return subjectIn(record[only], schema?.properties?.[only]);
  return { kind: 'record', record };
}

async function showSubject(terminal: Terminal, subject: Subject, showing: Showing): Promise<void> {
  switch (subject.kind) {
    case 'record':
      print(
        terminal,
        recordText(subject.record, showing.wanted, { ...canvasOf(terminal, showing.wanted), width: widthOf(terminal) }),
      );
      return;
    case 'values':
      for (const value of subject.values) print(terminal, cellText(value));
      return;
    case 'rows': {
      const { length } = subject.rows;
      if (length > 0) await showRows(terminal, subject.rows, showing);
      if (showing.total !== undefined && showing.total > length)
        printToStderr(terminal, `${length} of ${showing.total}; --start and --limit turn the page.`);
      else if (length === 0) print(terminal, 'None.');
    }
  }
}

/** Boxes and a limited width are for people; a pipe gets plain columns, all of them, as they are. */
function canvasOf(terminal: Terminal, { format, columns }: Wanted): Canvas {
  const boxes = isWatched(terminal);
  const isWhole = !boxes || format === 'wide' || columns !== undefined;
  return { width: isWhole ? undefined : widthOf(terminal), boxes, colour: hasColour(terminal) };
}

/** Fields that hold nothing are left out, unless they were asked for. */
function recordText(record: Fields, { shape, columns }: Wanted, canvas: Canvas): string {
  const schemas = 'fields' in shape ? shape.fields : {};
  if (columns)
    return drawRecord(
      columns.map((column) => [column.title, textOf(column, record, schemas)]),
      canvas,
    );
  const entries = Object.entries(record)
    .map(
      ([field, value]) => [plainText(titleOf(field, schemas[field])), fieldText(field, schemas[field], value)] as const,
    )
    .filter(([, text]) => text !== '');
  return drawRecord(entries, canvas);
}

async function showRows(terminal: Terminal, rows: readonly Fields[], showing: Showing): Promise<void> {
  const { wanted, api } = showing;
  const schemas = 'fields' in wanted.shape ? wanted.shape.fields : {};
  const known = wanted.shape.kind === 'rows' ? columnsFor(api, wanted.shape.title) : undefined;
  const hasText = (column: Column) => !column.ifAny || rows.some((row) => textOf(column, row, schemas) !== '');
  const isWide = wanted.format === 'wide';
  const more = (known?.more ?? []).filter(hasText);
  const chosen =
    wanted.columns ?? (known ? [...known.main.filter(hasText), ...(isWide ? more : [])] : ownColumns(rows));
  const labels = await labelsOf(chosen, rows, showing);
  const grid = {
    titles: chosen.map(({ title }) => plainText(title)),
    rows: rows.map((row) => chosen.map((column) => labelled(column, textOf(column, row, schemas), labels))),
  };
  const canvas = canvasOf(terminal, wanted);
  const isUnchosen = known === undefined && wanted.columns === undefined && !isWide;
  const { text, omitted } = drawRows(grid, isUnchosen ? { ...canvas, width: widthOf(terminal) } : canvas);
  print(terminal, text);
  const leftOut = [...omitted, ...(wanted.columns || isWide ? [] : more.map(({ title }) => title))];
  if (leftOut.length > 0 && canvas.boxes)
    printToStderr(terminal, `Left out: ${leftOut.join(', ')}. --output wide shows all, --columns those you name.`);
}

type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What people call the things that the rows name by their identifiers. */
async function labelsOf(columns: readonly Column[], rows: readonly Fields[], { listOf }: Showing): Promise<Labels> {
  const labels = new Map<string, ReadonlyMap<string, string>>();
  for (const { named, field } of columns) {
    if (!named || !rows.some((row) => cellText(fieldOf(row, field)) !== '')) continue;
    const records = await listOf(named.group);
    labels.set(named.group, new Map(records.map((each) => [String(each[named.id]), cellText(each[named.label])])));
  }
  return labels;
}

function labelled({ named }: Column, text: string, labels: Labels): string {
  const known = named && labels.get(named.group);
  if (!known) return text;
  const names = text.split(',').map((id) => known.get(id.trim()) ?? id.trim());
  return names.join(', ');
}

function textOf({ field, value }: Column, record: Fields, schemas: Schemas): string {
  const shown = value ? value(record) : fieldOf(record, field);
  return fieldText(field, schemas[field], shown);
}

/** First what names and describes a record, then plain fields, then nested ones; empty columns say nothing. */
function ownColumns(rows: readonly Fields[]): Column[] {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const listed = all.filter((column) => rows.some((row) => cellText(fieldOf(row, column)) !== ''));
  const rank = (column: string) => {
    const first = FIRST_FIELDS.indexOf(column);
    if (first >= 0) return first;
    return FIRST_FIELDS.length + (rows.some((row) => isNested(fieldOf(row, column))) ? 1 : 0);
  };
  return listed.sort((a, b) => rank(a) - rank(b)).map((field) => ({ title: field, field }));
}

/** Fields that come first in a list without columns of its own. */
const FIRST_FIELDS = ['id', 'name', 'display_name', 'key', 'status', 'status_message', 'kind'];

async function csvOf(subject: Subject, { shape, columns }: Wanted): Promise<string> {
  if (subject.kind === 'values')
    return csvText(
      ['value'],
      subject.values.map((value) => [value]),
    );
  const rows = subject.kind === 'rows' ? subject.rows : [subject.record];
  const declared = 'fields' in shape ? Object.keys(shape.fields) : [];
  const fields = [...new Set([...declared, ...rows.flatMap((row) => Object.keys(row))])];
  const chosen: readonly Column[] = columns ?? fields.map((field) => ({ title: field, field }));
  return csvText(
    chosen.map(({ title }) => title),
    rows.map((row) => chosen.map(({ field, value }) => (value ? value(row) : fieldOf(row, field)))),
  );
}

/** Its own field: keys are data at times, and every object inherits a `constructor`. */
function fieldOf(row: Fields, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined;
}
