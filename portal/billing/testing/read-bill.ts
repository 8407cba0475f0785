import { parse } from 'csv-parse/sync';
import { unzip } from '../../../kernel/http/testing/unzip.ts';

export type CsvRow = Readonly<Record<string, string>>;

/** The three tables of a bill. */
export function readBill(bytes: Uint8Array): { items: CsvRow[]; arrays: CsvRow[]; summary: CsvRow[] } {
  const files = unzip(bytes);
  const table = (name: string) => parse<CsvRow>(files.get(name) ?? Buffer.of(), { columns: true });
  return { items: table('items.csv'), arrays: table('arrays.csv'), summary: table('summary.csv') };
}
