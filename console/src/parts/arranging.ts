/** What a row is sorted and filtered by in one column. */
export interface Arranged<T> {
  /** Unique among the columns; also how the address names what the table is sorted by. */
  readonly name: string;
  /** Absent: it is neither sorted nor filtered by it. */
  readonly value?: (row: T) => Value;
}

type Value = string | number | null | undefined;

/** Rows in which every word of the filter stands, in the order asked for. */
export function arranged<T>(
  rows: readonly T[],
  columns: readonly Arranged<T>[],
  filter: string,
  sort: string,
): readonly T[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = (row: T) =>
    columns
      .map(({ value }) => String(value?.(row) ?? ''))
      .join('\n')
      .toLowerCase();
  const found = wanted.length === 0 ? rows : rows.filter((row) => matches(texts(row), wanted));
  const { value } = columns.find(({ name }) => name === sort.replace(/^-/, '')) ?? {};
  if (!value) return found;
  const sign = sort.startsWith('-') ? -1 : 1;
  return [...found].sort((a, b) => sign * compare(value(a), value(b)));
}

function matches(text: string, wanted: readonly string[]): boolean {
  return wanted.every((word) => text.includes(word));
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** What is no number, such as a share of nothing, would put all others in no order. */
function compare(a: Value, b: Value): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a));
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : Number(a > b);
  return collator.compare(String(a ?? ''), String(b ?? ''));
}
