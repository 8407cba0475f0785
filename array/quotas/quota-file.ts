import { badParameter } from '@granary/kernel';
import { CsvError, parse } from 'csv-parse/sync';
import { MB } from '../units.ts';
import type { NameReader } from './names.ts';

export type QuotaFileFormat = 'csv' | 'text';

export interface QuotaFileLine {
  readonly id: number;
  /** Undefined removes the quota. */
  readonly limitBytes: number | undefined;
}

interface RawLine {
  /** Line of the file, counted from 1. */
  readonly line: number;
  readonly name: string;
  readonly limit: string;
}

interface CsvRecord {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

/** 1 PB, the most a share can hold. */
export const LIMIT_MB_MAX = 2 ** 30;
const ROWS_MAX = 100_000;
const ROW_BYTES_MAX = 4_096;
const SHOWN_MAX = 80;

/** What a header may call them: our own short names, and those of a quota's record, so that a saved list can be sent. */
const WHO = ['id', 'name', 'source_id'];
const LIMIT = ['limit', 'hard'];
const PASSED_OVER = ['source_id_display', 'usage', 'soft', 'source_type', 'nas_type'];

/** Reads a file of quotas; the first row that is wrong is an error that names it. */
export function readQuotaFile(bytes: Uint8Array, format: QuotaFileFormat, names: NameReader): QuotaFileLine[] {
  const text = decode(bytes);
  const entries = format === 'csv' ? readCsv(text) : readText(text);
  if (entries.length === 0) throw badParameter('file', 'holds no quotas');
  if (entries.length > ROWS_MAX) throw badParameter('file', `has more than ${ROWS_MAX} rows`);
  const lines = new Map<number, number>();
  return entries.map((line) => {
    const id = names.read(line.name);
    if (typeof id === 'string') throw rowProblem(line.line, shortened(id));
    const earlier = lines.get(id);
    if (earlier !== undefined)
      throw rowProblem(line.line, `${shortened(line.name)} has a quota in row ${earlier} already`);
    lines.set(id, line.line);
    return { id, limitBytes: readLimit(line) };
  });
}

function readCsv(text: string): RawLine[] {
  const [header, ...rows] = parseCsv(text);
  if (!header) return [];
  const columns = header.record.map((cell) => cell.toLowerCase());
  const unknown = columns.find((column) => ![...WHO, ...LIMIT, ...PASSED_OVER].includes(column));
  const [who, limit] = [indexOf(columns, WHO), indexOf(columns, LIMIT)];
  if (unknown !== undefined || who === -1 || limit === -1)
    throw rowProblem(header.info.lines, 'the header must be id,limit or name,limit');
  return rows.map(({ info: { lines: line }, record }) => {
    if (record.length !== columns.length)
      throw rowProblem(line, `has ${record.length} cells; the header has ${columns.length}`);
    return { line, name: record[who] ?? '', limit: record[limit] ?? '' };
  });
}

/** The first of them that is among the columns. */
function indexOf(columns: readonly string[], names: readonly string[]): number {
  const name = names.find((one) => columns.includes(one));
  return name === undefined ? -1 : columns.indexOf(name);
}

function parseCsv(text: string): CsvRecord[] {
  try {
    const records: unknown = parse(text, {
      info: true,
      bom: true,
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
    throw rowProblem(Number(error['lines'] ?? 1), error.message.split(':')[0]?.toLowerCase() ?? 'is not CSV');
  }
}

/** One name and limit a line, with spaces or tabs between them; a name may hold spaces. Lines that begin with # are notes. */
function readText(text: string): RawLine[] {
  const lines: RawLine[] = [];
  for (const [index, whole] of text.split(/\r\n|\n|\r/).entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    if (line.length > ROW_BYTES_MAX) throw rowProblem(index + 1, `is longer than ${ROW_BYTES_MAX} characters`);
    const at = Math.max(line.lastIndexOf(' '), line.lastIndexOf('\t'));
    if (at === -1) throw rowProblem(index + 1, 'must be a name or number, a space, and a limit in MB');
    lines.push({ line: index + 1, name: line.slice(0, at).trim(), limit: line.slice(at + 1) });
    if (lines.length > ROWS_MAX) break;
  }
  return lines;
}

function readLimit({ line, limit }: RawLine): number | undefined {
  const isNumber = /^\d{1,15}$/.test(limit);
  if (!isNumber || Number(limit) > LIMIT_MB_MAX)
    throw rowProblem(line, `limit is ${shortened(limit)}; it must be a whole number of MB, at most ${LIMIT_MB_MAX}`);
  return Number(limit) === 0 ? undefined : Number(limit) * MB;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badParameter('file', 'is not UTF-8 text');
  }
}

function shortened(text: string): string {
  const shown = JSON.stringify(text).slice(1, -1);
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}…` : shown;
}

function rowProblem(line: number, problem: string) {
  return badParameter('file', `row ${line}: ${problem}. No quota was set`);
}
