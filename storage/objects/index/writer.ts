import type { SpaceReserve } from '../../space-reserve.ts';
import { policyOfPartition } from '../blobs/pieces.ts';
import { Epoch } from '../epoch.ts';
import { ObjectError } from '../errors.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import type { Arguments, Commit, OperationName } from '../operations.ts';
import { IndexDatabase, type IndexDb } from './database.ts';
import { asNoSpace, noSpace } from './no-space.ts';
import { LogKeeper } from './log-keeper.ts';
import type { Change } from './operations/change.ts';
import { isToSweep, sweep } from './operations/purge.ts';
import { OPERATIONS } from './operations/table.ts';
import { IndexReader } from './reader.ts';
import { BUCKET_COLUMNS, type KnownBucket } from './rows.ts';
import { Tally } from './tally.ts';

/** Whether a drive has not left, by the books as they are in a transaction. */
type IsIn = (db: IndexDb, drive: number) => boolean;

interface Waiting {
  readonly work: (change: Change) => unknown;
  /** It makes room, or keeps the books of it: where there is none, it may use the reserve. */
  readonly frees: boolean;
  /** Does nothing but change the index, so it can be undone with others and done again. */
  readonly isPlain: boolean;
  /** Looks at counters, so those of the changes before it have to be written first. */
  readonly readsCounters: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Outcome {
  readonly waiting: Waiting;
  readonly value: unknown;
}

const FREEING: ReadonlySet<OperationName> = new Set([
  'deleteBucket',
  'deleteObject',
  'abortUpload',
  'relocate',
  'endReplication',
  'purgeAccount',
  'forgetUsage',
]);

const BATCH_LENGTH_MAX = 256;
/** Sequences are taken in advance, so many at a time: a restart leaves out those that were not given. */
const SEQUENCES_AHEAD = 4096;
const APART_BATCHES = 16;
/** So long those that are here wait for others that were announced. */
const COMPANY_MS_MAX = 2;
/** Rows of buckets that are kept. */
const BUCKETS_MAX = 1024;

/**
 * The one writer of the index. Changes that wait at the same moment share one transaction and one sync, and are
 * answered after it. One that is refused takes none of the others along: they are done again, each in a savepoint of its
 * own. While a sync runs off the event loop, the next changes gather. Readers may see a change in the moment before it
 * is durable; whoever asked for it hears of it only then.
 */
export class IndexWriter {
  /** Reads over the writer's own connection, for the thread it lives in. */
  readonly reader: IndexReader;
  /** Of buckets, for readers in other threads. */
  readonly bucketEpoch = new Epoch();
  readonly #database: IndexDatabase;
  readonly #log: LogKeeper;
  readonly #reserve: SpaceReserve | undefined;
  readonly #queue: Waiting[] = [];
  readonly #tally = new Tally();
  readonly #rings = new Map<number, Ring>();
  #isIn: IsIn = () => true;
  /** What `isIn` said since others last changed their tables. */
  readonly #drivesIn = new Map<number, boolean>();
  readonly #bucketRows = new Map<number, KnownBucket>();
  /** What changes that are done together work with. */
  readonly #change: Change;
  #sequence: number;
  /** Up to here none is given again after a restart. */
  #sequenceTaken: number;
  #mustSweep: boolean;
  #bucketsChanged = false;
  #pumping: Promise<void> | undefined;
  /** So many batches are not tried together: refusals seldom come alone, and each has all of its batch done twice. */
  #apartFor = 0;
  /** Changes that were announced and are not here yet. */
  #announced = 0;
  /** Ends the waiting for them. */
  #goOn: (() => void) | undefined;
  #closed = false;

  constructor(file: string, reserve?: SpaceReserve) {
    this.#reserve = reserve;
    this.#database = IndexDatabase.openWriter(file);
    this.reader = new IndexReader(this.#database);
    this.#log = new LogKeeper(this.#database);
    this.#change = this.#changeWith(this.#tally);
    this.#sequence = this.#readSequence();
    this.#sequenceTaken = this.#sequence;
    this.#mustSweep = isToSweep(this.#database);
    if (this.#mustSweep) this.#start();
  }

  readonly commit: Commit = <O extends OperationName>(operation: O, args: Arguments<O>) =>
    this.#submit((change) => OPERATIONS[operation](change, args), {
      frees: FREEING.has(operation),
      isPlain: true,
      readsCounters: operation === 'changeBucket',
    });

  /**
   * A change will come soon, for example when its bytes are on drives: those that are here already wait a moment for it,
   * because a transaction and its sync cost as much as several changes. Call what it gives before the change comes, or if
   * it does not come.
   */
  announce(): () => void {
    this.#announced += 1;
    return () => {
      this.#announced -= 1;
      this.#reconsider();
    };
  }

  /** Any work on the same file, in the same group commit: others keep tables of their own in it. */
  change<T>(work: (db: IndexDb) => T): Promise<T> {
    const own = { frees: true, isPlain: false, readsCounters: true };
    return this.#submit(({ db }) => {
      this.#forget();
      return work(db);
    }, own);
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
    this.#database.close();
  }

  #submit<T>(work: (change: Change) => T, own: Pick<Waiting, 'frees' | 'isPlain' | 'readsCounters'>): Promise<T> {
    if (this.#closed) return Promise.reject(new ObjectError('closed', 'The index is closed.'));
    const { frees, isPlain, readsCounters } = own;
    // What is left of the reserve is for those who make room.
    if (!frees && this.#reserve?.isReleased === true) return Promise.reject(noSpace());
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, frees, isPlain, readsCounters, resolve: resolve as (value: unknown) => void, reject });
      this.#start();
      this.#reconsider();
    });
  }

  #start(): void {
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0 || (this.#mustSweep && !this.#closed)) {
      await new Promise(setImmediate);
      if (this.#isWorthWaiting()) await this.#company();
      const batch = this.#queue.splice(0, BATCH_LENGTH_MAX);
      if (this.#mustSweep) batch.push(this.#sweeping());
      try {
        const done = this.#transact(batch);
        await this.#database.sync();
        for (const { waiting, value } of done) waiting.resolve(value);
        await this.#log.committed(batch.length);
      } catch (error) {
        this.#refuse(batch, asNoSpace(error));
      }
    }
    // At once after the last look at the queue: what came in between would wait for nobody.
    this.#pumping = undefined;
  }

  /**
   * A full disk or a failed sync: nobody in the batch is told that it worked. Those that make room are tried again with the
   * room of the reserve, as long as there is some.
   */
  #refuse(batch: readonly Waiting[], told: unknown): void {
    const isFull = told instanceof ObjectError && told.code === 'no-space';
    const freeing = isFull ? batch.filter(({ frees }) => frees) : [];
    const again = freeing.length > 0 && this.#reserve?.release() === true;
    if (again) this.#queue.unshift(...freeing);
    for (const waiting of batch) if (!again || !waiting.frees) waiting.reject(told);
  }

  /**
   * Until two of three are here: the last ones may take long. What is not plain never waits: those that were announced may
   * wait for it themselves.
   */
  #isWorthWaiting(): boolean {
    const enough = Math.min(2 * this.#announced, BATCH_LENGTH_MAX);
    return this.#queue.length < enough && this.#queue.every(({ isPlain }) => isPlain);
  }

  async #company(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      timer = setTimeout(resolve, COMPANY_MS_MAX);
    });
    clearTimeout(timer);
    this.#goOn = undefined;
  }

  #reconsider(): void {
    if (this.#goOn && !this.#isWorthWaiting()) this.#goOn();
  }

  /** One step of freeing what was given up. What fails now is tried again after the next start. */
  #sweeping(): Waiting {
    this.#mustSweep = false;
    const work = (change: Change): void => {
      if (sweep(change)) this.#mustSweep = true;
    };
    return {
      work,
      frees: true,
      isPlain: false,
      readsCounters: false,
      resolve: () => undefined,
      reject: () => undefined,
    };
  }

  #transact(batch: readonly Waiting[]): Outcome[] {
    this.#apartFor = Math.max(0, this.#apartFor - 1);
    const mayBeTogether = this.#apartFor === 0 && batch.every(({ isPlain }) => isPlain);
    const done = (mayBeTogether && this.#together(batch)) || this.#apart(batch);
    this.#tellOfBuckets();
    return done;
  }

  /** Undefined when one of them was refused: then nothing has happened. */
  #together(batch: readonly Waiting[]): Outcome[] | undefined {
    let refusal: unknown;
    const attempt = (waiting: Waiting): Outcome => {
      if (waiting.readsCounters) this.#flush();
      try {
        return { waiting, value: waiting.work(this.#change) };
      } catch (error) {
        if (this.#database.inTransaction) refusal = error;
        throw error;
      }
    };
    try {
      return this.#inTransaction(() => batch.map(attempt));
    } catch (error) {
      if (error !== refusal) throw error;
      this.#apartFor = APART_BATCHES;
      return undefined;
    }
  }

  #apart(batch: readonly Waiting[]): Outcome[] {
    return this.#inTransaction(() => {
      const done: Outcome[] = [];
      for (const waiting of batch) this.#attempt(waiting, done);
      return done;
    });
  }

  #inTransaction(work: () => Outcome[]): Outcome[] {
    this.#database.begin();
    try {
      const done = work();
      this.#flush();
      this.#takeSequences();
      this.#database.run('COMMIT');
      return done;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.run('ROLLBACK');
      this.#tally.clear();
      this.#forget();
      this.#sequenceTaken = 0;
      throw error;
    }
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
      this.#forget();
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
      bucket: (id) => this.#bucket(id),
      bucketsChanged: () => {
        this.#bucketsChanged = true;
        this.#bucketRows.clear();
      },
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

  #bucket(id: number): KnownBucket | undefined {
    const known = this.#bucketRows.get(id);
    if (known) return known;
    const row = this.#database.get<KnownBucket>(`SELECT ${BUCKET_COLUMNS} FROM buckets WHERE id = ?`, id);
    if (this.#bucketRows.size >= BUCKETS_MAX) this.#bucketRows.clear();
    if (row) this.#bucketRows.set(id, row);
    return row;
  }

  /** What was read in a transaction that is undone, or before others changed their tables. */
  #forget(): void {
    this.#drivesIn.clear();
    this.#bucketRows.clear();
  }

  #takeSequences(): void {
    if (this.#sequence <= this.#sequenceTaken) return;
    this.#sequenceTaken = this.#sequence + SEQUENCES_AHEAD;
    this.#database.run('INSERT OR REPLACE INTO counters VALUES (?, ?)', 'sequence', this.#sequenceTaken);
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
