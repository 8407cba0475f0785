import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientRecorder, RecordedClient } from '@granary/protocols/nfs';
import { syncFolder } from '../engine-catalogue.ts';

const FILE = 'clients.log';
/** The file is rewritten when it has this many lines more than clients. */
const SPARE_LINES_MAX = 4096;

interface Line {
  readonly client: RecordedClient;
  readonly isGone?: boolean;
}

/**
 * The clients that may hold opens or locks, in a file of the array: after a restart or a failover they, and no others,
 * may claim them again. Each change is a line at the end of the file; a crash can cut off the last one only, which was not
 * acknowledged. Concurrent changes share one write and one sync.
 */
export class ClientRecords implements ClientRecorder {
  readonly #folder: string;
  readonly #clients = new Map<string, RecordedClient>();
  #file: FileHandle | undefined;
  #lines = 0;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async load(): Promise<readonly RecordedClient[]> {
    await this.#inTurn(async () => {
      for (const { client, isGone } of await this.#read()) {
        if (isGone === true) this.#clients.delete(keyOf(client));
        else this.#clients.set(keyOf(client), client);
      }
      await this.#rewrite();
    });
    return [...this.#clients.values()];
  }

  async add(client: RecordedClient): Promise<void> {
    const known = this.#clients.get(keyOf(client));
    if (known?.address === client.address) return this.#writing;
    this.#clients.set(keyOf(client), client);
    await this.#append({ client });
  }

  async remove(client: RecordedClient): Promise<void> {
    if (!this.#clients.delete(keyOf(client))) return;
    await this.#append({ client, isGone: true });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#file?.close();
      this.#file = undefined;
    });
  }

  async #append(line: Line): Promise<void> {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    await this.#inTurn(() => this.#write());
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    if (this.#file === undefined || this.#lines > this.#clients.size + SPARE_LINES_MAX) {
      await this.#rewrite();
      return;
    }
    try {
      await this.#file.appendFile(lines.join(''));
      await this.#file.datasync();
      this.#lines += lines.length;
    } catch (error) {
      // What is at the end of the file now is not known: the next change writes all of it.
      await this.#file.close().catch(() => undefined);
      this.#file = undefined;
      throw error;
    }
  }

  /** The clients as they are now, in a new file. */
  async #rewrite(): Promise<void> {
    const path = join(this.#folder, FILE);
    const clients = [...this.#clients.values()];
    await writeFile(`${path}.new`, clients.map((client) => `${JSON.stringify({ client })}\n`).join(''), {
      flush: true,
    });
    await rename(`${path}.new`, path);
    await syncFolder(this.#folder);
    await this.#file?.close();
    this.#file = await open(path, 'a');
    this.#lines = clients.length;
  }

  async #read(): Promise<Line[]> {
    const text = await readFile(join(this.#folder, FILE), 'utf8').catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    });
    return text.split('\n').flatMap((line) => parsed(line) ?? []);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work, work);
    this.#writing = done;
    done.catch(() => undefined);
    return done;
  }
}

function parsed(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

function keyOf({ kind, name }: RecordedClient): string {
  return `${kind} ${name}`;
}
