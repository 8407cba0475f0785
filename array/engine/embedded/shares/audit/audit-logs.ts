import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  AUDIT_BYTES_MAX,
  AUDIT_FILE_BYTES_MAX,
  auditFileName,
  auditFileTime,
  auditFolder,
  type AuditRecord,
} from '../../../audit.ts';
import type { OnEngineEvent } from '../../../engine.ts';
import { syncFolder } from '../../engine-catalogue.ts';

const FLUSH_AFTER_MS = 500;
/** Records that wait while the logs cannot be written; further ones are lost. */
const WAITING_MAX = 100_000;

interface LogFile {
  readonly volume: string;
  readonly path: string;
  readonly firstMs: number;
  /** The last record it has is not younger. */
  lastMs: number;
  bytes: number;
}

interface OpenLog {
  readonly file: LogFile;
  readonly handle: FileHandle;
}

interface Waiting {
  readonly volume: string;
  readonly record: AuditRecord | Promise<AuditRecord>;
}

interface AuditLogsSetup {
  /** The array's. */
  readonly folder: string;
  readonly onEvent: OnEngineEvent;
  readonly onProblem: (problem: string, error: unknown) => void;
  readonly bytesMax?: number;
  readonly fileBytesMax?: number;
}

/**
 * The audit logs of all shares, as `array/engine/audit.ts` describes them. Records are written together, less than a second
 * after they were made. Each start begins new files: the last line of the old ones may be cut short.
 */
export class ShareAuditLogs {
  readonly #setup: AuditLogsSetup;
  readonly #folder: string;
  readonly #open = new Map<string, OpenLog>();
  /** Oldest first; known after the first look at the folder. */
  #files: LogFile[] | undefined;
  #waiting: Waiting[] = [];
  #isLosing = false;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(setup: AuditLogsSetup) {
    this.#setup = setup;
    this.#folder = auditFolder(setup.folder);
  }

  record(volume: string, record: Waiting['record']): void {
    if (this.#waiting.length >= WAITING_MAX) {
      if (!this.#isLosing) this.#setup.onProblem('audit records are lost: the logs cannot be written', undefined);
      this.#isLosing = true;
      return;
    }
    this.#waiting.push({ volume, record });
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** Resolves when all records made before are in their files, or cannot be written now. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    for (const { handle } of this.#open.values()) await handle.close();
    this.#open.clear();
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0) return;
    const byVolume = Map.groupBy(waiting, ({ volume }) => volume);
    for (const [volume, all] of byVolume) {
      try {
        await this.#append(volume, await Promise.all(all.map(async ({ record }) => record)));
        this.#isLosing = false;
      } catch (error) {
        this.#setup.onProblem(`audit records of ${volume} wait: the log cannot be written`, error);
        await this.#closeLog(volume);
        this.#waiting.unshift(...all);
        this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
      }
    }
    await this.#reclaim().catch((error: unknown) => this.#setup.onProblem('old audit logs stay', error));
  }

  async #append(volume: string, records: readonly AuditRecord[]): Promise<void> {
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return;
    const { file, handle } = this.#open.get(volume) ?? (await this.#begin(volume, first.time));
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    await handle.appendFile(text);
    await handle.datasync();
    file.bytes += Buffer.byteLength(text);
    file.lastMs = last.time;
    if (file.bytes >= (this.#setup.fileBytesMax ?? AUDIT_FILE_BYTES_MAX)) await this.#closeLog(volume);
  }

  async #begin(volume: string, firstMs: number): Promise<OpenLog> {
    const files = (this.#files ??= await this.#scan());
    const path = join(this.#folder, volume, auditFileName(firstMs));
    await mkdir(dirname(path), { recursive: true });
    const handle = await open(path, 'a');
    await syncFolder(dirname(path));
    const { size } = await handle.stat();
    // A line that was cut short must not run into the next one.
    if (size > 0) await handle.appendFile('\n');
    const known = files.find((one) => one.path === path);
    const file = known ?? { volume, path, firstMs, lastMs: firstMs, bytes: size };
    if (!known) files.push(file);
    const log = { file, handle };
    this.#open.set(volume, log);
    return log;
  }

  async #closeLog(volume: string): Promise<void> {
    const log = this.#open.get(volume);
    this.#open.delete(volume);
    await log?.handle.close().catch(() => undefined);
  }

  /** Deletes the oldest files until the rest has room. */
  async #reclaim(): Promise<void> {
    const files = this.#files ?? [];
    const max = this.#setup.bytesMax ?? AUDIT_BYTES_MAX;
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    while (bytes > max && files.length > 0) {
      const [oldest] = files.sort((one, other) => one.firstMs - other.firstMs) as [LogFile];
      const { volume, path, lastMs: untilMs } = oldest;
      if (this.#open.get(volume)?.file === oldest) await this.#closeLog(volume);
      await rm(path, { force: true });
      files.shift();
      bytes -= oldest.bytes;
      this.#setup.onEvent({ type: 'audit-space-reclaimed', volume, untilMs });
    }
  }

  async #scan(): Promise<LogFile[]> {
    const files: LogFile[] = [];
    await mkdir(this.#folder, { recursive: true });
    for (const volume of await readdir(this.#folder)) {
      for (const name of await readdir(join(this.#folder, volume)).catch(() => [])) {
        const firstMs = auditFileTime(name);
        if (firstMs === undefined) continue;
        const path = join(this.#folder, volume, name);
        const { size: bytes, mtimeMs } = await stat(path);
        files.push({ volume, path, firstMs, lastMs: Math.floor(mtimeMs), bytes });
      }
    }
    return files;
  }
}
