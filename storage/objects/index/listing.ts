import { commonPrefix, compareKeys, pastPrefix } from './keys.ts';

/** What is still to be listed. */
export interface Span<Sub> {
  /** Least key. */
  readonly from: string;
  /** All keys are less; null for no end. */
  readonly until: string | null;
  /** Entries of a key that come after one of them; they stand before all others. */
  readonly within: { readonly key: string; readonly sub: Sub } | null;
}

/** Rows in the order they are listed. */
export interface Source<Row, Sub> {
  keyOf(row: Row): string;
  /** What distinguishes entries of one key; null where a key has only one. */
  subOf(row: Row): Sub | null;
  rows(span: Span<Sub>, limit: number): Row[];
}

export interface Walk<Sub> {
  readonly prefix: string;
  readonly delimiter: string | null;
  readonly span: Span<Sub>;
  /** A common prefix that was listed before. */
  readonly listed: string | null;
  readonly reverse: boolean;
  readonly limit: number;
}

export interface Walked<Row> {
  readonly rows: readonly Row[];
  readonly prefixes: readonly string[];
  /** The last one listed, when there are more. */
  readonly last: { readonly row: Row } | { readonly prefix: string } | null;
}

type Entry<Row> = { readonly row: Row } | { readonly prefix: string };

/**
 * A page of a listing. Keys below a common prefix are jumped over, so the time depends on what is listed and not on
 * how much lies below it.
 */
export function walk<Row, Sub>(source: Source<Row, Sub>, query: Walk<Sub>): Walked<Row> {
  const { prefix, delimiter, limit } = query;
  if (!delimiter) return plainPage(source, query);
  const wanted = limit + 1;
  const entries: Entry<Row>[] = [];
  let span: Span<Sub> | null = limit > 0 ? query.span : null;
  let step = 1;
  while (span && entries.length < wanted) {
    const size = Math.min(step, wanted - entries.length);
    const rows: Row[] = source.rows(span, size);
    let rolledUp: string | null = null;
    for (const row of rows) {
      rolledUp = commonPrefix(source.keyOf(row), prefix, delimiter);
      if (rolledUp !== null) break;
      entries.push({ row });
    }
    const last = rows.at(-1);
    if (rolledUp !== null) {
      if (rolledUp !== query.listed) entries.push({ prefix: rolledUp });
      span = pastCommon(span, rolledUp, query.reverse);
      step = 1;
    } else {
      span = rows.length < size || last === undefined ? null : pastRow(source, span, last, query.reverse);
      step *= 2;
    }
  }
  return pageOf(entries, limit);
}

/** Nothing to roll up: the rows as they come. */
function plainPage<Row, Sub>(source: Source<Row, Sub>, { span, limit }: Walk<Sub>): Walked<Row> {
  const rows = limit > 0 ? source.rows(span, limit + 1) : [];
  if (rows.length <= limit) return { rows, prefixes: [], last: null };
  rows.length = limit;
  return { rows, prefixes: [], last: { row: rows[limit - 1] as Row } };
}

function pastCommon<Sub>(span: Span<Sub>, prefix: string, reverse: boolean): Span<Sub> | null {
  if (reverse) return { ...span, until: prefix };
  const from = pastPrefix(prefix);
  return from === null ? null : { from, until: span.until, within: null };
}

function pastRow<Row, Sub>(source: Source<Row, Sub>, span: Span<Sub>, row: Row, reverse: boolean): Span<Sub> {
  const key = source.keyOf(row);
  if (reverse) return { ...span, until: key };
  const sub = source.subOf(row);
  return { from: pastKey(key), until: span.until, within: sub === null ? null : { key, sub } };
}

function pageOf<Row>(entries: readonly Entry<Row>[], limit: number): Walked<Row> {
  const shown = entries.slice(0, limit);
  const rows: Row[] = [];
  const prefixes: string[] = [];
  for (const entry of shown) {
    if ('row' in entry) rows.push(entry.row);
    else prefixes.push(entry.prefix);
  }
  return { rows, prefixes, last: entries.length > limit ? (shown.at(-1) ?? null) : null };
}

/** Keys that begin with a prefix and lie between two others, both excluded. */
export function spanOf(prefix: string, above: string | null, below: string | null): Omit<Span<never>, 'within'> {
  const end = pastPrefix(prefix);
  const from = above === null || compareKeys(pastKey(above), prefix) < 0 ? prefix : pastKey(above);
  const until = end === null || (below !== null && compareKeys(below, end) < 0) ? below : end;
  return { from, until };
}

/** The least key after another one: no key has a NUL in it. */
function pastKey(key: string): string {
  return `${key}\0`;
}
