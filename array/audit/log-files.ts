import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { auditFileTime, auditFolder, type AuditRecord } from '../engine/audit.ts';

/** One file of a share's log, and the times its records lie between. */
export interface LogFile {
  readonly path: string;
  readonly firstMs: number;
  /** When the next file begins; without end for the last. */
  readonly endMs: number;
}

export interface ShareLog {
  readonly volume: string;
  /** In the order of time; at least one. */
  readonly files: readonly LogFile[];
}

/** More than one record takes. */
const TAIL_BYTES = 64 * 1024;

/** The logs of all shares, also of those that are deleted, in the order of their names. */
export async function findLogs(arrayFolder: string): Promise<ShareLog[]> {
  const folder = auditFolder(arrayFolder);
  const logs: ShareLog[] = [];
  for (const volume of (await namesIn(folder)).sort()) {
    const files = await filesOf(join(folder, volume));
    if (files.length > 0) logs.push({ volume, files });
  }
  return logs;
}

async function filesOf(folder: string): Promise<LogFile[]> {
  const times = (await namesIn(folder)).flatMap((name) => {
    const firstMs = auditFileTime(name);
    return firstMs === undefined ? [] : [{ path: join(folder, name), firstMs }];
  });
  times.sort((one, other) => one.firstMs - other.firstMs);
  return times.map((file, index) => ({ ...file, endMs: times[index + 1]?.firstMs ?? Infinity }));
}

/** In the order they were written. A file that was deleted to make room has none. */
export async function* recordsOf(path: string): AsyncGenerator<AuditRecord> {
  const file = await openLog(path);
  if (!file) return;
  try {
    for await (const line of file.readLines({ autoClose: false })) {
      const record = readRecord(line);
      if (record) yield record;
    }
  } finally {
    await file.close();
  }
}

/** The time of the last record of a log: in its last file, unless a crash left nothing whole there. */
export async function lastTimeOf({ files }: ShareLog): Promise<number | undefined> {
  for (const { path } of files.toReversed()) {
    const record = await lastRecordOf(path);
    if (record) return record.time;
  }
  return undefined;
}

async function lastRecordOf(path: string): Promise<AuditRecord | undefined> {
  const lines = (await tailOf(path)).split('\n').reverse();
  for (const line of lines) {
    const record = readRecord(line);
    if (record) return record;
  }
  return undefined;
}

async function tailOf(path: string): Promise<string> {
  const file = await openLog(path);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined for a line that a crash cut short. */
function readRecord(line: string): AuditRecord | undefined {
  if (!line.endsWith('}')) return undefined;
  try {
    const record = JSON.parse(line) as AuditRecord;
    return typeof record.time === 'number' ? record : undefined;
  } catch {
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOENT' || code === 'ENOTDIR';
}
