import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { assert } from '../assert.ts';
import { Database, type Db } from './database.ts';
import { DatabaseCopies, type CopyOptions } from './copies.ts';
import { asDamage } from './damage.ts';
import { asDiskFull, DiskFullError } from './disk-full.ts';
import { isFreeing } from './freeing.ts';
import { migrate, readMigrations, type Migrations } from './migrations.ts';
import { Reserve } from './reserve.ts';

/** A transaction. Its work is synchronous, so no reader ever sees it half done. */
export interface Tx extends Db {
  /** Runs once the transaction is on disk: to drop a cached record, to wake a worker. Must not throw. */
  afterCommit(action: () => void): void;
}

interface Waiting {
  /** It makes room: where there is none, it may use the reserve. */
  readonly frees: boolean;
  readonly work: (tx: Tx) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly waiting: Waiting;
  readonly value: unknown;
  readonly actions: (() => void)[];
}

const BATCH_LENGTH_MAX = 256;
const LOCK_WAIT_MS = 4000;
const PROBE_EVERY_MS = 5_000;
/** After the start, which has better things to do. */
const FILL_AFTER_MS = 10_000;
const IN_MEMORY = ':memory:';
const kernelMigrations = readMigrations('kernel', new URL('../migrations/', import.meta.url));

/**
 * Group commit: changes that wait at the same moment share one transaction and one fsync, and are answered after
 * it. Each runs in a savepoint of its own, so one that fails takes none of the others with it.
 *
 * When the disk is full, changes that make room (`runFreeing`) are written with the room of a reserve; from then on all
 * others are refused until the reserve could be filled again.
 */
export class Store {
  readonly #database: Database;
  readonly #reserve: Reserve | undefined;
  readonly #queue: Waiting[] = [];
  #scheduled = false;
  #closed = false;
  #isDiskFull = false;
  #probe: NodeJS.Timeout | undefined;
  #copies: DatabaseCopies | undefined;

  /** Waits `lockWaitMs` for a process that is just going away to let go of the file. */
  constructor(file: string, migrations: Migrations, lockWaitMs = LOCK_WAIT_MS) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new Database(file, lockWaitMs);
    try {
      migrate(this.#database, kernelMigrations);
      migrate(this.#database, migrations);
    } catch (error) {
      this.close();
      throw asDamage(file, error);
    }
    this.#database.markInUse();
    this.#reserve = file === IN_MEMORY ? undefined : new Reserve(`${file}-reserve`);
    if (this.#reserve?.isReleased) this.#awaitRoom();
    else if (this.#reserve) this.#probe = setTimeout(() => void this.#fill(), FILL_AFTER_MS).unref();
  }

  read<T>(work: (db: Db) => T): T {
    return work(this.#database);
  }

  write<T>(work: (tx: Tx) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The store is closed'));
    const frees = isFreeing();
    // What is left of the reserve is for those who make room.
    if (!frees && this.#reserve?.isReleased) return Promise.reject(new DiskFullError(undefined));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ frees, work, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  get file(): string {
    return this.#database.file;
  }

  /** A consistent copy of everything committed, made while the store is in use. */
  copyTo(target: string): Promise<void> {
    return this.#database.copyTo(target);
  }

  /** From now on a copy is made every hour, and the last few are kept. */
  keepCopies(options: CopyOptions): DatabaseCopies {
    this.#copies ??= new DatabaseCopies(this, options);
    this.#copies.start();
    return this.#copies;
  }

  /** For what is worth less than what it tells of, such as an event: undefined when the disk is full. */
  async writeUnlessFull<T>(work: (tx: Tx) => T): Promise<T | undefined> {
    try {
      return await this.write(work);
    } catch (error) {
      if (error instanceof DiskFullError) return undefined;
      throw error;
    }
  }

  /** From a change that did not fit on the disk to the next one that does. */
  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  /** To be waited for before `close`: SQLite keeps a file locked while a copy of it is being made. */
  async stopCopies(): Promise<void> {
    await this.#copies?.stop();
  }

  close(): void {
    if (this.#closed) return;
    clearTimeout(this.#probe);
    void this.#copies?.stop();
    this.#reserve?.close();
    while (this.#queue.length > 0) this.#commitBatch();
    this.#closed = true;
    this.#database.close();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#commitBatch();
      if (this.#queue.length > 0) this.#schedule();
    });
  }

  #commitBatch(): void {
    this.#commit(this.#queue.splice(0, BATCH_LENGTH_MAX));
  }

  #commit(batch: readonly Waiting[]): void {
    const done: Outcome[] = [];
    const failed: { readonly waiting: Waiting; readonly told: unknown }[] = [];
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      for (const waiting of batch) this.#attempt(waiting, done, (told) => failed.push({ waiting, told }));
      this.#database.exec('COMMIT');
    } catch (error) {
      // A full disk or a failed fsync undoes the whole batch: nobody in it is told that it worked.
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      const told = this.#judge(error);
      this.#refuse(batch, told);
      return;
    }
    if (done.length > 0 && !this.#reserve?.isReleased) this.#isDiskFull = false;
    for (const { actions } of done) for (const action of actions) action();
    for (const { waiting, value } of done) waiting.resolve(value);
    for (const { waiting, told } of failed) this.#refuse([waiting], told);
  }

  #attempt(waiting: Waiting, done: Outcome[], failed: (told: unknown) => void): void {
    const actions: (() => void)[] = [];
    this.#database.exec('SAVEPOINT change');
    try {
      const value = waiting.work(this.#transaction(actions));
      assert(!(value instanceof Promise), 'the work of a transaction is synchronous');
      done.push({ waiting, value, actions });
    } catch (error) {
      // SQLite ends the outer transaction by itself on a full disk or an I/O error; then all of the batch is lost.
      if (!this.#database.inTransaction) throw error;
      this.#database.exec('ROLLBACK TO change');
      failed(this.#judge(error));
    }
    this.#database.exec('RELEASE change');
  }

  /** Those that make room are tried once more with the room of the reserve. */
  #refuse(batch: readonly Waiting[], told: unknown): void {
    const freeing = batch.filter(({ frees }) => frees);
    const again = told instanceof DiskFullError && freeing.length > 0 && this.#reserve?.release() === true;
    // At once: whoever else writes to the disk would take the room otherwise.
    if (again) this.#commit(freeing);
    for (const waiting of batch) if (!again || !waiting.frees) waiting.reject(told);
  }

  #judge(error: unknown): unknown {
    const told = asDiskFull(asDamage(this.file, error));
    if (told instanceof DiskFullError) this.#awaitRoom();
    return told;
  }

  /** Tries a small change now and then: whoever is turned away while the disk is full may not come back to try. */
  #awaitRoom(): void {
    this.#isDiskFull = true;
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => {
      if (this.#reserve?.isReleased) void this.#fill();
      else this.write((tx) => tx.run('PRAGMA user_version = 1')).catch(() => undefined);
    }, PROBE_EVERY_MS).unref();
  }

  /** Where there is room for the reserve, there is room for everybody. */
  async #fill(): Promise<void> {
    const isFilled = await this.#reserve?.fill();
    if (this.#closed) return;
    if (isFilled) this.#isDiskFull = false;
    else if (this.#reserve?.isReleased) this.#awaitRoom();
  }

  #transaction(actions: (() => void)[]): Tx {
    const database = this.#database;
    return {
      all: (sql, params) => database.all(sql, params),
      get: (sql, params) => database.get(sql, params),
      run: (sql, params) => database.run(sql, params),
      afterCommit: (action) => actions.push(action),
    };
  }
}
