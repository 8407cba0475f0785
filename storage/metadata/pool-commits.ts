import { isDatabaseFull, type Database, type Transaction } from '@granary/kernel/sqlite';
import { SharedFlush } from '../drive/shared-flush.ts';
import { isNoSpace, StorageError } from '../errors.ts';
import type { SpaceReserve } from '../space-reserve.ts';
import { type ExtentMapPage } from '../volume/extent-map.ts';

interface CommitBatch {
  pages: { layer: number; page: ExtentMapPage }[];
  operations: ((tx: Transaction) => void)[];
  retired: number[];
  afterwards: (() => void)[];
}

/**
 * The one way what a pool knows gets onto disk. Changes are made in memory, noted here, and written together at the
 * next commit: first the groups flush, so that no map on disk ever names a block whose bytes are not; then one
 * transaction; only then are extents that it gave up free for others, because until then the maps on disk name them.
 *
 * On a full disk neither the checksums of data that was written before nor the transaction may find room. For a commit
 * that deletes, the reserve gives room to both, a piece at a time.
 */
export class PoolCommits {
  readonly #database: Database;
  readonly #flushData: () => Promise<void>;
  readonly #release: (extents: number[]) => void;
  readonly #reserve: SpaceReserve | undefined;
  readonly #preparations: (() => void)[] = [];
  #open: CommitBatch = noChanges();
  readonly #writer = new SharedFlush(() => this.#write());
  #beginning: Promise<void> | undefined;
  /** Deletions that wait for a commit. */
  #deletions = 0;

  constructor(
    database: Database,
    flushData: () => Promise<void>,
    release: (extents: number[]) => void,
    reserve?: SpaceReserve,
  ) {
    this.#database = database;
    this.#flushData = flushData;
    this.#release = release;
    this.#reserve = reserve;
  }

  pageChanged(layer: number, page: ExtentMapPage): void {
    if (page.dirty) return;
    page.dirty = true;
    this.#open.pages.push({ layer, page });
  }

  enqueue(operation: (tx: Transaction) => void): void {
    this.#open.operations.push(operation);
  }

  /** The extent is free for others after the next commit. */
  retire(extent: number): void {
    this.#open.retired.push(extent);
  }

  /** Runs at the moment the content of a commit is fixed: what `prepare` notes is part of that commit. */
  beforeEach(prepare: () => void): void {
    this.#preparations.push(prepare);
  }

  /** Runs once everything noted so far survives a power cut. */
  afterNext(work: () => void): void {
    this.#open.afterwards.push(work);
  }

  get hasRetired(): boolean {
    return this.#open.retired.length > 0 || this.#writer.isRunning;
  }

  /** Resolves when everything noted before the call survives a power cut. Calls that wait share one commit. */
  commit(): Promise<void> {
    // A moment later: those who ask in the same breath are part of it, instead of waiting for the first to be done.
    this.#beginning ??= Promise.resolve().then(() => {
      this.#beginning = undefined;
      return this.#writer.run();
    });
    return this.#beginning;
  }

  /** The same for a change that makes room: on a full disk it is written with the room of the reserve. */
  async commitDeletion(): Promise<void> {
    this.#deletions += 1;
    try {
      await this.commit();
    } finally {
      this.#deletions -= 1;
    }
  }

  /** Before something new is made: while the reserve is in use, what room there is belongs to deletions. */
  requireSpace(): void {
    if (this.#reserve?.isReleased === true) throw noSpace();
  }

  async #write(): Promise<void> {
    for (;;) {
      try {
        await this.#tryWrite();
        return;
      } catch (error) {
        const reported = isDatabaseFull(error) ? noSpace(error) : error;
        if (!isNoSpace(reported) || this.#deletions === 0 || !this.#releaseReserve()) throw reported;
      }
    }
  }

  #releaseReserve(): boolean {
    // The log is used from its beginning again, so that many deletions need no more room than one.
    this.#database.tryCheckpoint();
    return this.#reserve?.release() === true;
  }

  async #tryWrite(): Promise<void> {
    for (const prepare of this.#preparations) prepare();
    const changes = this.#open;
    this.#open = noChanges();
    // As they are now: what later writes add to them may not be on disk by the time this is.
    const rows = changes.pages.map(({ layer, page }) => rowOf(layer, page));
    try {
      await this.#flushData();
      await this.#record(rows, changes);
    } catch (error) {
      this.#requeue(changes);
      throw error;
    }
    if (changes.retired.length > 0) this.#release(changes.retired);
    for (const work of changes.afterwards) work();
  }

  async #record(rows: readonly PageRow[], { operations, retired, afterwards }: CommitBatch): Promise<void> {
    if (rows.length + operations.length + retired.length + afterwards.length === 0) return;
    this.#database.transaction((tx) => {
      for (const row of rows) writePage(tx, row);
      for (const operation of operations) operation(tx);
    });
    await this.#database.sync();
  }

  /** Nothing was written, or nobody can tell: all of it is due again, before what came since. */
  #requeue(changes: CommitBatch): void {
    const later = this.#open;
    this.#open = {
      pages: [],
      operations: [...changes.operations, ...later.operations],
      retired: [...changes.retired, ...later.retired],
      afterwards: [...changes.afterwards, ...later.afterwards],
    };
    for (const { page } of later.pages) page.dirty = false;
    for (const { layer, page } of [...changes.pages, ...later.pages]) this.pageChanged(layer, page);
  }
}

interface PageRow {
  readonly layer: number;
  readonly page: number;
  readonly entries: Uint8Array | undefined;
  readonly blocks: Uint8Array | undefined;
}

function rowOf(layer: number, page: ExtentMapPage): PageRow {
  page.dirty = false;
  page.compact();
  if (page.used === 0) return { layer, page: page.index, entries: undefined, blocks: undefined };
  const blocks = page.low && page.high ? Buffer.concat([bytesOf(page.low), bytesOf(page.high)]) : undefined;
  return { layer, page: page.index, entries: bytesOf(page.entries).slice(), blocks };
}

function bytesOf(words: Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function writePage(tx: Transaction, row: PageRow): void {
  if (!row.entries) {
    tx.run('DELETE FROM maps WHERE layer = ? AND page = ?', row.layer, row.page);
    return;
  }
  tx.run(
    'INSERT OR REPLACE INTO maps (layer, page, entries, blocks) VALUES (?, ?, ?, ?)',
    row.layer,
    row.page,
    row.entries,
    row.blocks ?? null,
  );
}

function noSpace(cause?: unknown): StorageError {
  return new StorageError('no-space', 'The disk under the metadata of the pool is full; make room there.', { cause });
}

function noChanges(): CommitBatch {
  return { pages: [], operations: [], retired: [], afterwards: [] };
}
