import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolderOf, type Log, type Store } from '@granary/kernel';
import { internalNameOf } from '../hosted-arrays/repository.ts';
import { listRevisions, rowsOf, type ArrayRows } from './repository.ts';

/**
 * What the cloud knows of an array, as a file in the array's own folder: `hosting.json`. It is written after each change
 * of the database and replaced as a whole. From these files the arrays can be started when the cloud's database is
 * damaged, and an older copy of the database is brought up to date. Secrets in it are sealed, as in the database.
 */
export interface HostingRecord extends ArrayRows {
  readonly version: number;
  /** The uuid of the cloud. */
  readonly cloud: string;
}

const FILE = 'hosting.json';
const VERSION = 1;

export class HostingRecords {
  readonly #folder: string;
  readonly #store: Store;
  readonly #cloud: string;
  readonly #log: Log;
  /** The revision that each array's file has. */
  readonly #written = new Map<number, number>();

  constructor({ folder, store, cloud, log }: { folder: string; store: Store; cloud: string; log: Log }) {
    this.#folder = folder;
    this.#store = store;
    this.#cloud = cloud;
    this.#log = log;
    for (const { array } of readHostingRecords(folder).records) this.#written.set(array.number, array.revision);
  }

  /** Writes the records of arrays that have changed. A disk that is full delays them: the next change writes them too. */
  async follow(): Promise<void> {
    for (const { number, revision } of this.#store.read(listRevisions)) {
      if (this.#written.get(number) === revision) continue;
      try {
        await this.#write(number);
        this.#written.set(number, revision);
      } catch (error) {
        this.#log.error({ error, array: internalNameOf(number) }, 'the record of an array could not be written');
      }
    }
  }

  async #write(number: number): Promise<void> {
    const rows = this.#store.read((db) => rowsOf(db, number));
    if (!rows) return;
    const record: HostingRecord = { version: VERSION, cloud: this.#cloud, ...rows };
    const folder = join(this.#folder, internalNameOf(number));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, FILE);
    const handle = await open(`${path}.new`, 'w', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(record, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.new`, path);
    syncFolderOf(path);
  }
}

/** The records in the folders of arrays, and why others could not be read. */
export function readHostingRecords(folder: string): { records: HostingRecord[]; problems: string[] } {
  const records: HostingRecord[] = [];
  const problems: string[] = [];
  for (const name of foldersIn(folder)) {
    const path = join(folder, name, FILE);
    try {
      const record = JSON.parse(readFileSync(path, 'utf8')) as HostingRecord;
      if (record.version !== VERSION || internalNameOf(record.array.number) !== name)
        throw new Error('it does not fit');
      records.push(record);
    } catch (error) {
      // Arrays of earlier releases have none until the cloud has started once.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(`${path} cannot be used: ${(error as Error).message}`);
    }
  }
  return { records, problems };
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
