import assert from 'node:assert/strict';
import { isDatabaseFull, type Database, type Transaction } from '@granary/kernel/sqlite';
import { SharedFlush } from '../drive/shared-flush.ts';
import { isNoSpace, StorageError } from '../errors.ts';
import type { SpaceReserve } from '../space-reserve.ts';

/** A page of a layer's map, as a commit writes it. */
interface MapPage {
  readonly index: number;
  readonly entries: Uint32Array | Float64Array;
  readonly low: Uint32Array | undefined;
  readonly high: Uint32Array | undefined;
  readonly used: number;
  /** Changed since it was written, and part of the next commit. */
  dirty: boolean;
  compact(): void;
}

interface CommitBatch {
  pages: { layer: number; page: MapPage }[];
  operations: ((tx: Transaction) => void)[];
  retired: number[];
  afterwards: (() => void)[];
}

/**
 * Writes the metadata of a pool. Changes are made in memory, recorded here, and written together by the next commit.
 * First the groups are flushed, so that no map on disk refers to a block whose bytes are not durable. Then one
 * transaction writes the metadata. Only then are retired extents released for reuse, because until then the maps on
 * disk refer to them.
 *
 * On a full disk neither the checksums of earlier writes nor the transaction may find space. A commit that deletes uses
 * the reserve for both, a piece at a time.
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
  #isWriting = false;
  /** Deletions waiting for a commit. */
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

  pageChanged(layer: number, page: MapPage): void {
    if (page.dirty) return;
    page.dirty = true;
    this.#open.pages.push({ layer, page });
  }

  enqueue(operation: (tx: Transaction) => void): void {
    this.#open.operations.push(operation);
  }

  /** The extent is released after the next commit. */
  retire(extent: number): void {
    assert.ok(Number.isSafeInteger(extent) && extent > 0, `${extent} is no extent of a pool`);
    this.#open.retired.push(extent);
  }

  /** Runs when the content of a commit is fixed: changes that `prepare` records are part of that commit. */
  beforeEach(prepare: () => void): void {
    this.#preparations.push(prepare);
  }

  /** Runs once everything recorded so far survives a power cut. */
  afterNext(work: () => void): void {
    this.#open.afterwards.push(work);
  }

  get hasRetired(): boolean {
    return this.#open.retired.length > 0 || this.#writer.isRunning;
  }

  /** Resolves when everything recorded before the call survives a power cut. Concurrent callers share one commit. */
  commit(): Promise<void> {
    // Deferred by a microtask: callers of the same turn join this commit instead of waiting for the next one.
    this.#beginning ??= Promise.resolve().then(() => {
      this.#beginning = undefined;
      return this.#writer.run();
    });
    return this.#beginning;
  }

  /** The same for a change that frees space: on a full disk it uses the reserve. */
  async commitDeletion(): Promise<void> {
    this.#deletions += 1;
    try {
      await this.commit();
    } finally {
      this.#deletions -= 1;
    }
  }

  /** To be called before something is created: while the reserve is in use, free space is for deletions. */
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
    // A checkpoint lets the log start over, so that many deletions need no more space than one.
    this.#database.tryCheckpoint();
    return this.#reserve?.release() === true;
  }

  async #tryWrite(): Promise<void> {
    assert.ok(!this.#isWriting, 'one commit is written at a time: a second one could release extents of the first');
    for (const prepare of this.#preparations) prepare();
    const changes = this.#open;
    this.#open = noChanges();
    // Encoded now: later changes of these pages may not be durable when this commit is.
    const rows = changes.pages.map(({ layer, page }) => rowOf(layer, page));
    this.#isWriting = true;
    try {
      await this.#flushData();
      await this.#record(rows, changes);
    } catch (error) {
      this.#requeue(changes);
      throw error;
    } finally {
      this.#isWriting = false;
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

  /** The batch was not written, or its state is unknown: it is committed again, before later changes. */
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

function rowOf(layer: number, page: MapPage): PageRow {
  page.dirty = false;
  page.compact();
  assert.ok(
    (page.low === undefined) === (page.high === undefined),
    'a map page has both halves of its block bits or none',
  );
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
