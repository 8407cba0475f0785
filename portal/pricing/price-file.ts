import { priceKinds, type PriceKind } from '@granary/contract/portal';
import { fail, type GranaryError } from '@granary/kernel';
import Big from 'big.js';
import { CsvError, parse } from 'csv-parse/sync';
import { itemName, type ItemPrice } from './items.ts';
import { isPrice, PRICE_FORM } from './price.ts';

/** A price and where in the file it stands, so that whatever is wrong with it can be found. */
export interface FilePrice extends ItemPrice {
  /** CSV: the line, the header being 1. JSON: the position in the list, from 1. */
  readonly row: number;
}

interface RawLine {
  readonly row: number;
  readonly cells: readonly unknown[];
}

interface CsvRecord {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

const COLUMNS = ['kind', 'key', 'hourly_price_usd'] as const;
const ROWS_MAX = 10_000;
const ROW_BYTES_MAX = 4096;
const NUMBER_LENGTH_MAX = 64;

/** Reads a price file, CSV or JSON; the first row that is wrong is an error that names it. */
export function readPriceFile(bytes: Uint8Array): FilePrice[] {
  const text = decode(bytes);
  const rows = /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text);
  if (rows.length === 0) throw fail('price_file_empty');
  if (rows.length > ROWS_MAX) throw fail('price_file_too_long', { max: ROWS_MAX });
  const seen = new Map<string, number>();
  return rows.map((raw) => {
    const row = readRow(raw);
    const earlier = seen.get(itemName(row));
    if (earlier !== undefined) throw rowProblem(row.row, `${itemName(row)} has a price in row ${earlier} already`);
    seen.set(itemName(row), row.row);
    return row;
  });
}

/** `Row 3: …` */
export function rowProblem(row: number, problem: string): GranaryError {
  return fail('price_file_row', { row, problem });
}

/** What a cell holds, in quotes and short enough for a message. */
export function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('price_file_encoding');
  }
}

function readCsv(text: string): RawLine[] {
  const [header, ...rows] = parseCsv(text);
  if (header?.record.join() !== COLUMNS.join()) {
    throw rowProblem(header?.info.lines ?? 1, `the header must be ${COLUMNS.join()}`);
  }
  return rows.map(({ info, record }) => ({ row: info.lines, cells: record }));
}

function parseCsv(text: string): CsvRecord[] {
  try {
    const records: unknown = parse(text, {
      info: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: ROW_BYTES_MAX,
      // The header, and one row more than is allowed: enough to refuse the file.
      to: ROWS_MAX + 2,
    });
    return records as CsvRecord[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw rowProblem(Number(error['lines'] ?? 1), error.message.split(':')[0]?.toLowerCase() ?? 'not CSV');
  }
}

function readJson(text: string): RawLine[] {
  let value: unknown;
  try {
    value = JSON.parse(text, exactNumbers);
  } catch {
    throw fail('price_file_json');
  }
  if (!Array.isArray(value)) throw fail('price_file_list');
  return value.map((item: unknown, index) => {
    const row = index + 1;
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw rowProblem(row, 'must be an object');
    return { row, cells: COLUMNS.map((column) => (item as Record<string, unknown>)[column]) };
  });
}

/** Numbers become the decimal text they were written as: none passes through floating point. */
function exactNumbers(_key: string, value: unknown, context?: { readonly source: string }): unknown {
  if (typeof value !== 'number' || !context) return value;
  const { source } = context;
  if (PRICE_FORM.test(source) || source.length > NUMBER_LENGTH_MAX) return source;
  // `5e-7` is a fair way to write a small number; one that is out of all range stays as it is, to be refused.
  return value >= 1e-9 && value < 1e9 ? new Big(source).toFixed() : source;
}

function readRow({ row, cells }: RawLine): FilePrice {
  if (cells.length !== COLUMNS.length) {
    throw rowProblem(row, `has ${cells.length} cells; ${COLUMNS.length} are needed: ${COLUMNS.join()}`);
  }
  const [kind, key, price] = cells;
  if (!isKind(kind)) throw rowProblem(row, `kind is ${quoted(kind)}; it must be one of ${priceKinds.join(', ')}`);
  if (typeof key !== 'string' || key === '') throw rowProblem(row, `key is ${quoted(key)}; it must be text`);
  if (typeof price !== 'string' || !isPrice(price)) {
    const rule = 'a decimal of at least 0 with at most 9 digits before the point and 9 after it';
    throw rowProblem(row, `hourly_price_usd is ${quoted(price)}; it must be ${rule}`);
  }
  return { row, kind, key, price };
}

function isKind(value: unknown): value is PriceKind {
  return priceKinds.some((kind) => kind === value);
}
