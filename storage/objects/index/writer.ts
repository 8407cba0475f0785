import { policyOfPartition } from '../blobs/pieces.ts';
import { Epoch } from '../epoch.ts';
import { ObjectError } from '../errors.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import type { Arguments, Commit, OperationName } from '../operations.ts';
import { IndexDatabase, type IndexDb } from './database.ts';
import { asNoSpace } from './no-space.ts';
import { LogKeeper } from './log-keeper.ts';
import type { Change } from './operations/change.ts';
import { isToSweep, sweep } from './operations/purge.ts';
import { OPERATIONS } from './operations/table.ts';
import { IndexReader } from './reader.ts';
import { Tally } from './tally.ts';

/** Whether a drive has not left, by the books as they are in a transaction. */
type IsIn = (db: IndexDb, drive: number) => boolean;

interface Waiting {
  readonly work: (change: Change) => unknown;
  /** Looks at counters, so those of the changes before it have to be written first. */
  readonly readsCounters: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly waiting: Waiting;
  readonly value: unknown;
}

const BATCH_LENGTH_MAX = 256;

/** Making a transaction durable, off the event loop. */
class Sync {
  readonly over: Promise<void>;
  isOver = false;

  /** `work` does not reject. */
  constructor(work: Promise<void>) {
    this.over = work.then(() => {
      this.isOver = true;
    });
  }
}

/**
 * The one writer of the index. Changes that come while the sync before them runs share one transaction and the next
 * sync, and are answered after it. Each runs in a savepoint of its own, so one that is refused takes none of the others
 * along. Readers may see a change in the moment before it is durable; whoever asked for it hears of it only then.
 */
export class IndexWriter {
  /**
   * For the thread the writer lives in. Over a connection of its own: the writer's sees changes that are not committed,
   * and whose counters are not written yet.
   */
  readonly reader: IndexReader;
  /** Of buckets, for readers in other threads. */
  readonly bucketEpoch = new Epoch();
  readonly #database: IndexDatabase;
  readonly #log: LogKeeper;
  readonly #queue: Waiting[] = [];
  readonly #tally = new Tally();
  readonly #rings = new Map<number, Ring>();
  #isIn: IsIn = () => true;
  /** What `isIn` said since others last changed their tables. */
  readonly #drivesIn = new Map<number, boolean>();
  #sequence: number;
  #mustSweep: boolean;
  #bucketsChanged = false;
  #pumping: Promise<void> | undefined;
  /** Something waits. */
  #wake: () => void = () => undefined;
  #closed = false;

  constructor(file: string) {
    this.#database = IndexDatabase.openWriter(file);
    this.reader = new IndexReader(file);
    this.#log = new LogKeeper(this.#database);
    this.#sequence = this.#readSequence();
    this.#mustSweep = isToSweep(this.#database);
    if (this.#mustSweep) this.#start();
  }

  readonly commit: Commit = <O extends OperationName>(operation: O, args: Arguments<O>) =>
    this.#submit((change) => OPERATIONS[operation](change, args), operation === 'changeBucket');

  /** Any work on the same file, in the same group commit: others keep tables of their own in it. */
  change<T>(work: (db: IndexDb) => T): Promise<T> {
    return this.#submit(({ db }) => {
      this.#drivesIn.clear();
      return work(db);
    }, true);
  }

  /**
   * Rings by which blobs are judged that are entered from now on: those not where they belong mark their partition, and
   * what was put on a drive that is not in any more is not there.
   */
  useLayout(layout: Layout, isIn: IsIn = () => true): void {
    this.#isIn = isIn;
    this.#drivesIn.clear();
    this.#rings.clear();
    for (const ring of layout.rings) this.#rings.set(ring.policy.index, ring);
  }

  /** Lets changes that wait be done. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pumping;
    await this.#log.close();
    this.reader.close();
    this.#database.close();
  }

  #submit<T>(work: (change: Change) => T, readsCounters = false): Promise<T> {
    if (this.#closed) return Promise.reject(new ObjectError('closed', 'The index is closed.'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, readsCounters, resolve: resolve as (value: unknown) => void, reject });
      this.#wake();
      this.#start();
    });
  }

  #start(): void {
    this.#pumping ??= this.#pump();
  }

  get #hasWork(): boolean {
    return this.#queue.length > 0 || (this.#mustSweep && !this.#closed);
  }

  async #pump(): Promise<void> {
    let sync = new Sync(Promise.resolve());
    while (this.#hasWork || !sync.isOver) {
      if (this.#hasWork) sync = await this.#transact(sync);
      else await this.#workOr(sync.over);
    }
    // At once after the last look at the queue: what came in between would wait for nobody.
    this.#pumping = undefined;
  }

  /** Until something waits, or `other` is over. */
  #workOr(other: Promise<void>): Promise<void> {
    if (this.#queue.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
      void other.then(resolve);
    });
  }

  /** One transaction: of what waits, and of what comes for as long as the sync before it runs. */
  async #transact(before: Sync): Promise<Sync> {
    const batch: Waiting[] = [];
    const done: Outcome[] = [];
    try {
      do {
        await this.#workOr(before.over);
        await new Promise(setImmediate);
        this.#attemptWaiting(batch, done);
      } while (!before.isOver && batch.length < BATCH_LENGTH_MAX);
      await before.over;
      this.#commit();
    } catch (error) {
      this.#rollBack();
      refuse(batch, error);
      return before;
    }
    const sync = new Sync(this.#makeDurable(batch, done));
    await this.#log.committed(batch.length);
    return sync;
  }

  #attemptWaiting(batch: Waiting[], done: Outcome[]): void {
    const some = this.#queue.splice(0, BATCH_LENGTH_MAX - batch.length);
    if (this.#mustSweep && batch.length === 0) some.push(this.#sweeping());
    batch.push(...some);
    if (!this.#database.inTransaction) this.#database.begin();
    for (const waiting of some) this.#attempt(waiting, done);
  }

  /** Answers after the sync. After a failed one nobody in the batch is told that it worked. */
  async #makeDurable(batch: readonly Waiting[], done: readonly Outcome[]): Promise<void> {
    try {
      await this.#database.sync();
      for (const { waiting, value } of done) waiting.resolve(value);
    } catch (error) {
      refuse(batch, error);
    }
  }

  /** One step of freeing what was given up. What fails now is tried again after the next start. */
  #sweeping(): Waiting {
    this.#mustSweep = false;
    const work = (change: Change): void => {
      if (sweep(change)) this.#mustSweep = true;
    };
    return { work, readsCounters: false, resolve: () => undefined, reject: () => undefined };
  }

  #commit(): void {
    this.#flush();
    this.#database.run('INSERT OR REPLACE INTO counters VALUES (?, ?)', 'sequence', this.#sequence);
    this.#database.run('COMMIT');
    this.#tellOfBuckets();
  }

  #rollBack(): void {
    if (this.#database.inTransaction) this.#database.run('ROLLBACK');
    this.#tally.clear();
    this.#drivesIn.clear();
  }

  /** Those who knew a bucket before read it anew, before anybody hears that it changed. */
  #tellOfBuckets(): void {
    if (this.#bucketsChanged) this.bucketEpoch.advance();
    this.#bucketsChanged = false;
  }

  #attempt(waiting: Waiting, done: Outcome[]): void {
    const tally = new Tally();
    if (waiting.readsCounters) this.#flush();
    this.#database.run('SAVEPOINT change');
    try {
      const value = waiting.work(this.#changeWith(tally));
      this.#tally.add(tally);
      done.push({ waiting, value });
    } catch (error) {
      // SQLite ends the outer transaction by itself on a full disk or an I/O error; then all of the batch is lost.
      if (!this.#database.inTransaction) throw error;
      this.#database.run('ROLLBACK TO change');
      this.#drivesIn.clear();
      waiting.reject(asNoSpace(error));
    }
    this.#database.run('RELEASE change');
  }

  #changeWith(tally: Tally): Change {
    return {
      db: this.#database,
      tally,
      nextSequence: () => (this.#sequence += 1),
      ringOf: (partition) => this.#rings.get(policyOfPartition(partition)),
      isIn: (drive) => this.#isDriveIn(drive),
      bucketsChanged: () => (this.#bucketsChanged = true),
      leaveToSweep: () => (this.#mustSweep = true),
    };
  }

  #isDriveIn(drive: number): boolean {
    const known = this.#drivesIn.get(drive);
    if (known !== undefined) return known;
    const isIn = this.#isIn(this.#database, drive);
    this.#drivesIn.set(drive, isIn);
    return isIn;
  }

  #flush(): void {
    this.#sequence += 1;
    this.#tally.flush(this.#database, this.#sequence);
  }

  #readSequence(): number {
    const sql = 'SELECT value FROM counters WHERE name = ?';
    return this.#database.get<{ value: number }>(sql, 'sequence')?.value ?? 0;
  }
}

function refuse(batch: readonly Waiting[], error: unknown): void {
  const told = asNoSpace(error);
  for (const waiting of batch) waiting.reject(told);
}
