import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull, SharedFlush, type SpaceReserve, StorageError } from '@granary/storage';
import type { Protection } from '../hardware.ts';

/** Being made: undone at the next open. Being deleted: done then. */
export type RecordState = 'creating' | 'ready' | 'deleting';

export interface GroupRecord {
  readonly id: string;
  readonly state: RecordState;
  readonly protection: Protection;
  readonly capacityBytes: number;
  /** Drives by their uuid, as the group had them on record last. */
  readonly members: readonly string[];
  readonly spares: readonly string[];
  /** Drives that have seen less are older than the group. */
  readonly events: number;
}

export interface PoolRecord {
  readonly id: string;
  readonly state: RecordState;
  readonly mode: 'simple' | 'stripe';
  readonly groups: readonly string[];
  readonly capacityBytes: number;
}

interface Content {
  readonly version: number;
  readonly groups: readonly GroupRecord[];
  readonly pools: readonly PoolRecord[];
}

const VERSION = 1;
const FILE = 'engine.json';

/**
 * What an engine has to know before it finds its drives: which groups and pools there are, and what was being made or
 * deleted. A small file, replaced as a whole: it is there as it was before or as it is afterwards.
 */
export class EngineCatalogue {
  readonly groups = new Map<string, GroupRecord>();
  readonly pools = new Map<string, PoolRecord>();
  readonly #folder: string;
  readonly #reserve: SpaceReserve | undefined;
  readonly #writer = new SharedFlush(() => this.#write());
  /** Of them, those that wait to be written. */
  #deletions = 0;

  constructor(folder: string, reserve?: SpaceReserve) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#reserve = reserve;
    const { groups, pools } = readCatalogue(folder);
    for (const group of groups) this.groups.set(group.id, group);
    for (const pool of pools) this.pools.set(pool.id, pool);
  }

  putGroup(record: GroupRecord): Promise<void> {
    return this.#change(this.groups, record.id, record);
  }

  removeGroup(id: string): Promise<void> {
    return this.#change(this.groups, id, undefined);
  }

  putPool(record: PoolRecord): Promise<void> {
    return this.#change(this.pools, record.id, record);
  }

  removePool(id: string): Promise<void> {
    return this.#change(this.pools, id, undefined);
  }

  async #change<T extends { readonly state: RecordState }>(
    records: Map<string, T>,
    id: string,
    record: T | undefined,
  ): Promise<void> {
    const before = records.get(id);
    const deletes = record === undefined || record.state === 'deleting';
    put(records, id, record);
    if (deletes) this.#deletions += 1;
    try {
      await this.#writer.run();
    } catch (error) {
      // What is not on disk must not stay in memory, unless another call has changed it since.
      if (records.get(id) === record) put(records, id, before);
      throw error;
    } finally {
      if (deletes) this.#deletions -= 1;
    }
  }

  /** On a full disk, what deletes is written with the room of the reserve. */
  async #write(): Promise<void> {
    for (;;) {
      try {
        await this.#tryWrite();
        return;
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        if (this.#deletions === 0 || this.#reserve?.release() !== true) throw noSpace(error, this.#folder);
      }
    }
  }

  async #tryWrite(): Promise<void> {
    const content: Content = { version: VERSION, groups: [...this.groups.values()], pools: [...this.pools.values()] };
    const file = join(this.#folder, FILE);
    await writeDurably(`${file}.new`, JSON.stringify(content, undefined, 2));
    await rename(`${file}.new`, file);
    await syncFolder(this.#folder);
  }
}

/** What the file says, without making anything. */
export function readCatalogue(folder: string): Content {
  const file = join(folder, FILE);
  if (!existsSync(file)) {
    refuseLost(file, join(folder, 'pools'));
    return { version: VERSION, groups: [], pools: [] };
  }
  const content = parse(file, readFileSync(file, 'utf8'));
  if (content.version === VERSION) return content;
  const what = `${file} is of version ${content.version}, this program knows ${VERSION}; use a newer one.`;
  throw new StorageError('invalid', what);
}

/** Pools are on record before they have a file: files without a record mean that the record was lost. */
function refuseLost(file: string, poolsFolder: string): void {
  const pools = existsSync(poolsFolder) ? readdirSync(poolsFolder).filter((name) => name.endsWith('.db')) : [];
  if (pools.length === 0) return;
  const what = `${file} is missing, but ${poolsFolder} holds ${pools.length} pools; put it back from a backup.`;
  throw new StorageError('invalid', what);
}

function parse(file: string, text: string): Content {
  try {
    return JSON.parse(text) as Content;
  } catch (error) {
    const what = `${file} is damaged: it is not JSON; put it back from a backup.`;
    throw new StorageError('invalid', what, { cause: error });
  }
}

/** Names of files that were made or removed in it survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function put<T>(records: Map<string, T>, id: string, record: T | undefined): void {
  if (record === undefined) records.delete(id);
  else records.set(id, record);
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function noSpace(cause: unknown, folder: string): StorageError {
  const what = `${join(folder, FILE)} cannot be written; make room on its disk.`;
  return new StorageError('no-space', what, { cause });
}
