import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { ZipFile } from 'yazl';
import type { AuditRecord } from '../engine/audit.ts';
import { recordsOf, type ShareLog } from './log-files.ts';

/** From the first moment on, before the second. */
export interface TimeRange {
  readonly fromMs: number;
  readonly beforeMs: number;
}

export interface ArchivedLog extends ShareLog {
  /** Name of its file in the archive. */
  readonly filename: string;
}

const COLUMNS = ['time', 'user', 'uid', 'gid', 'client', 'operation', 'path', 'to_path', 'result'];
const ROWS_PER_CHUNK = 500;
/** Records that were made in parallel may be in another order than their times. */
const DISORDER_MS = 60_000;

/** A zip file with one CSV file for each log, made while it is read: it takes the same memory however long they are. */
export function archiveOf(
  logs: readonly ArchivedLog[],
  range: TimeRange,
  users: ReadonlyMap<number, string>,
): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  let current: Readable | undefined;
  for (const log of logs) {
    zip.addReadStreamLazy(log.filename, { compress: true }, (give) => {
      current = Readable.from(csvOf(log, range, users), { objectMode: false });
      give(null, current);
    });
  }
  zip.on('error', (error: Error) => output.destroy(error));
  // The client may disconnect before the end.
  output.once('close', () => current?.destroy());
  zip.end();
  return output;
}

async function* csvOf(log: ShareLog, range: TimeRange, users: ReadonlyMap<number, string>): AsyncGenerator<Buffer> {
  let rows: (string | number)[][] = [COLUMNS];
  for await (const record of recordsIn(log, range)) {
    rows.push(rowOf(record, users));
    if (rows.length < ROWS_PER_CHUNK) continue;
    yield csv(rows);
    rows = [];
  }
  if (rows.length > 0) yield csv(rows);
}

async function* recordsIn({ files }: ShareLog, { fromMs, beforeMs }: TimeRange): AsyncGenerator<AuditRecord> {
  for (const { path, firstMs, endMs } of files) {
    if (endMs + DISORDER_MS < fromMs || firstMs >= beforeMs + DISORDER_MS) continue;
    for await (const record of recordsOf(path)) if (record.time >= fromMs && record.time < beforeMs) yield record;
  }
}

function rowOf(record: AuditRecord, users: ReadonlyMap<number, string>): (string | number)[] {
  const { time, uid, gid, client, operation, path, toPath = '', result } = record;
  return [timeText(time), users.get(uid) ?? '', uid, gid, client, operation, path, toPath, result];
}

function csv(rows: readonly (readonly (string | number)[])[]): Buffer {
  return Buffer.from(stringify([...rows], { escape_formulas: true }));
}

/** `YYYY-MM-DD HH:MM:SS.mmm UTC` */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')} UTC`;
}
