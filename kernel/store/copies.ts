import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';
import { syncFolderOf } from './mark.ts';

/** The source of a copy. */
interface Copied {
  readonly file: string;
  copyTo(target: string): Promise<void>;
}

export interface CopyOptions {
  readonly log: Log;
  readonly everyMs?: number;
  readonly kept?: number;
}

export interface DatabaseCopy {
  readonly path: string;
  /** When it was made, milliseconds since the epoch. */
  readonly madeAt: number;
  readonly bytes: number;
}

const HOUR_MS = 3_600_000;
const KEPT = 3;
/** The first copy waits until the service has started. */
const FIRST_AFTER_MS = 5_000;
const FREE_BYTES_MIN = 16 * 2 ** 20;
const STAMP = /\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const UNFINISHED = '.unfinished';

/**
 * Copies of one database, in the folder `copies` beside it: `<name>.<UTC time>`, the newest three. A copy is made under
 * another name, checked, synced and then renamed, so each listed copy is complete. One that fails the check, or does
 * not fit on the disk, replaces none of the older ones.
 */
export class DatabaseCopies {
  readonly #source: Copied;
  readonly #options: Required<CopyOptions>;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #making: Promise<DatabaseCopy> | undefined;

  constructor(source: Copied, options: CopyOptions) {
    this.#source = source;
    this.#options = { everyMs: HOUR_MS, kept: KEPT, ...options };
  }

  start(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    const newest = listCopies(this.#source.file)[0];
    const ageMs = newest === undefined ? Infinity : Math.max(0, Date.now() - newest.madeAt);
    this.#schedule(Math.max(FIRST_AFTER_MS, this.#options.everyMs - ageMs));
  }

  /** Makes no more copies; resolves when the current one is done, because until then it keeps the database open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#making?.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Makes a copy now; a call during a copy gets the next one. */
  make(): Promise<DatabaseCopy> {
    const before = this.#making ?? Promise.resolve();
    const making = before.then(
      () => this.#make(),
      () => this.#make(),
    );
    this.#making = making;
    return making;
  }

  #schedule(afterMs: number): void {
    this.#timer = setTimeout(() => {
      void this.#makeQuietly().finally(() => {
        if (!this.#stopped) this.#schedule(this.#options.everyMs);
      });
    }, afterMs).unref();
  }

  async #makeQuietly(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.make();
    } catch (error) {
      if (!this.#stopped) log.error({ error, database: this.#source.file }, 'a copy of the database could not be made');
    }
  }

  async #make(): Promise<DatabaseCopy> {
    const { file } = this.#source;
    const folder = copiesFolderOf(file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeUnfinished(file);
    requireFreeSpace(file, folder);
    const path = join(folder, `${basename(file)}.${stampOf(new Date())}`);
    const unfinished = `${path}${UNFINISHED}`;
    try {
      await this.#source.copyTo(unfinished);
      await finishCopy(unfinished);
      renameSync(unfinished, path);
      syncFolderOf(path);
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    for (const old of listCopies(file).slice(this.#options.kept)) rmSync(old.path, { force: true });
    return { path, madeAt: Date.now(), bytes: statSync(path).size };
  }
}

/** Copies of a database that can be restored, newest first. */
export function listCopies(file: string): DatabaseCopy[] {
  return namesIn(copiesFolderOf(file))
    .filter((name) => name.startsWith(`${basename(file)}.`) && STAMP.test(name))
    .sort()
    .reverse()
    .map((name) => {
      const path = join(copiesFolderOf(file), name);
      const [, year, month, day, hour, minute, second] = (STAMP.exec(name) ?? []).map(Number) as [number, ...number[]];
      const madeAt = Date.UTC(year as number, (month as number) - 1, day, hour, minute, second);
      return { path, madeAt, bytes: statSync(path).size };
    });
}

/** Converts a copy into one file, checks it and makes it durable, in a thread of its own. */
export function finishCopy(path: string): Promise<void> {
  const worker = new Worker(new URL('./finish-copy-main.ts', import.meta.url), { workerData: path });
  return new Promise((resolve, reject) => {
    worker.once('message', (problem: string | null) => {
      if (problem === null) resolve();
      else reject(new Error(`${path} is not a sound copy: ${problem}`));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The check of ${path} ended with ${code}`)));
  });
}

export function copiesFolderOf(file: string): string {
  return join(dirname(file), 'copies');
}

/** Removes the unfinished copy of a killed process. */
function removeUnfinished(file: string): void {
  const folder = copiesFolderOf(file);
  for (const name of namesIn(folder))
    if (name.startsWith(`${basename(file)}.`) && name.includes(UNFINISHED)) rmSync(join(folder, name), { force: true });
}

/** The last free space of a disk is for the database itself. */
function requireFreeSpace(file: string, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = Math.max(FREE_BYTES_MIN, 2 * statSync(file).size);
  if (bavail * bsize < needed)
    throw new Error(`There is too little room for a copy of ${file}; ${needed} bytes are needed`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function stampOf(date: Date): string {
  return date.toISOString().replace(/[-:]|\.\d+/g, '');
}
