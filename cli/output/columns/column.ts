type Fields = Readonly<Record<string, unknown>>;

/** A column of a list, in the words people look for. */
export interface Column {
  readonly title: string;
  /** The field of the record, whose unit the column has. */
  readonly field: string;
  /** What it shows where that is not the field as it is. */
  readonly value?: (record: Fields) => unknown;
  /** Shown only where a record has something to show in it. */
  readonly ifAny?: boolean;
  /** The list that knows what people call the thing the field names. */
  readonly named?: Naming;
}

interface Naming {
  readonly group: string;
  readonly id: string;
  readonly label: string;
}

/** The columns of a list: what everybody wants to see, and what `--output wide` adds. */
export interface Columns {
  readonly main: readonly Column[];
  readonly more: readonly Column[];
}

/** By the title that the contract gives the record. */
export type ColumnsByRecord = Readonly<Record<string, Columns>>;

/** Each name stands for a column: `name`, or `title=field`. */
export function columns(main: readonly (string | Column)[], more: readonly (string | Column)[] = []): Columns {
  return { main: main.map(columnOf), more: more.map((each) => ({ ...columnOf(each), ifAny: true })) };
}

/** A column that is left out where no record has anything to show in it. */
export function ifAny(column: string | Column): Column {
  return { ...columnOf(column), ifAny: true };
}

/** Shows display names in place of identifiers. */
export function named(column: string, group: string, id = 'name', label = 'display_name'): Column {
  return { ...columnOf(column), named: { group, id, label } };
}

/** Shows what is derived from the record, in the unit of the field. */
export function derived(column: string, value: (record: Fields) => unknown): Column {
  return { ...columnOf(column), value };
}

function columnOf(column: string | Column): Column {
  if (typeof column !== 'string') return column;
  const [title = '', field] = column.split('=');
  return { title, field: field ?? title.replaceAll(' ', '_') };
}
