import { GroupCommit, type ChangeOptions, type Database, type Reads, type Transaction } from '@granary/kernel/sqlite';
import type { SpaceReserve } from '../../space-reserve.ts';
import { policyOfPartition } from '../blobs/pieces.ts';
import { Epoch } from '../epoch.ts';
import { ObjectError } from '../errors.ts';
import type { Layout, Ring } from '../layout/layout.ts';
import { openIndexWriter } from './database.ts';
import { asNoSpace, noSpace } from './no-space.ts';
import type { IndexArguments, IndexCommit, IndexOperationName } from './index-operations.ts';
import { WalCheckpointer } from './wal-checkpointer.ts';
import type { Change } from './operations/change.ts';
import { hasGarbage, collectGarbage } from './operations/purge.ts';
import { OPERATIONS } from './operations/table.ts';
import { IndexReader } from './reader.ts';
import { BUCKET_COLUMNS, type KnownBucket } from './rows.ts';
import { Tally } from './tally.ts';

/** Whether a drive has not left, by the drive catalogue as a transaction sees it. */
type IsIn = (db: Reads, drive: number) => boolean;

const FREEING: ReadonlySet<IndexOperationName> = new Set([
  'deleteBucket',
  'deleteObject',
  'abortUpload',
  'relocate',
  'endReplication',
  'endNotifications',
  'trimNotifications',
  'purgeAccount',
  'dropUsage',
]);

/** Sequences are reserved in advance, this many at a time: a restart skips those that were not used. */
const SEQUENCES_AHEAD = 4096;
/** Rows of buckets that are kept. */
const BUCKETS_MAX = 1024;

/**
 * The one writer of the index: operations on buckets, objects and blobs, by group commit. Counters that every change moves
 * are gathered in a tally and written once for all changes of a transaction. Readers may see a change in the moment before
 * it is durable; its caller hears of it only then.
 */
export class IndexWriter {
  /** Reads over the writer's own connection, for the thread it lives in. */
  readonly reader: IndexReader;
  /** Of buckets, for readers in other threads. */
  readonly bucketEpoch = new Epoch();
  readonly #database: Database;
  readonly #commits: GroupCommit;
  readonly #checkpointer: WalCheckpointer;
  readonly #tally = new Tally();
  readonly #rings = new Map<number, Ring>();
  #isIn: IsIn = () => true;
  /** What `isIn` said since others last changed their tables. */
  readonly #drivesIn = new Map<number, boolean>();
  readonly #bucketRows = new Map<number, KnownBucket>();
  /** What changes that are undone together work with. */
  #change: Change | undefined;
  #sequence: number;
  /** Up to here none is given again after a restart. */
  #sequenceTaken: number;
  #hasGarbage: boolean;
  #isCollecting = false;
  #bucketsChanged = false;
  #closed = false;

  constructor(file: string, reserve?: SpaceReserve) {
    this.#database = openIndexWriter(file);
    this.#commits = new GroupCommit(this.#database, {
      reserve,
      translate: asNoSpace,
      beforeCommit: (tx) => this.#finish(tx),
      rolledBack: () => this.#undo(),
      committed: () => this.#publish(),
      answered: (changes) => this.#checkpointer.committed(changes),
    });
    this.reader = new IndexReader(this.#database);
    this.#checkpointer = new WalCheckpointer(this.#database);
    this.#sequence = this.#readSequence();
    this.#sequenceTaken = this.#sequence;
    this.#hasGarbage = hasGarbage(this.#database);
    this.#collectGarbage();
  }

  readonly commit: IndexCommit = <O extends IndexOperationName>(operation: O, args: IndexArguments<O>) => {
    const work = (tx: Transaction, isUndoneAlone: boolean) =>
      this.#apply(tx, isUndoneAlone, (change) => OPERATIONS[operation](change, args));
    return this.#submit(work, {
      frees: FREEING.has(operation),
      isRepeatable: true,
      // It reads counters, so those of the changes before it have to be written first.
      ...(operation === 'changeBucket' && { before: this.#flush }),
    });
  };

  /** Any work on the same file, in the same group commit: others keep tables of their own in it. */
  change<T>(work: (tx: Transaction) => T): Promise<T> {
    const own = (tx: Transaction): T => {
      this.#dropCaches();
      return work(tx);
    };
    return this.#submit(own, { frees: true, before: this.#flush });
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
    await this.#commits.idle();
    await this.#checkpointer.close();
    this.#database.close();
  }

  #submit<T>(work: (tx: Transaction, isUndoneAlone: boolean) => T, options: ChangeOptions): Promise<T> {
    if (this.#closed) return Promise.reject(new ObjectError('closed', 'The index is closed.'));
    // The rest of the reserve is for changes that free space.
    if (!options.frees && this.#commits.isReserveInUse) return Promise.reject(noSpace());
    return this.#commits.submit(work, options);
  }

  /** A change that may be undone alone counts in the tally of its transaction once it went well. */
  #apply<T>(tx: Transaction, isUndoneAlone: boolean, work: (change: Change) => T): T {
    if (!isUndoneAlone) {
      if (this.#change?.db !== tx) this.#change = this.#changeWith(tx, this.#tally);
      return work(this.#change);
    }
    const tally = new Tally();
    try {
      const value = work(this.#changeWith(tx, tally));
      this.#tally.add(tally);
      return value;
    } catch (error) {
      this.#dropCaches();
      throw error;
    }
  }

  /** One step of freeing what was given up, as long as there is any. What fails is tried again after the next start. */
  #collectGarbage(): void {
    if (!this.#hasGarbage || this.#isCollecting || this.#closed) return;
    this.#hasGarbage = false;
    this.#isCollecting = true;
    const work = (tx: Transaction): void => {
      if (this.#apply(tx, true, collectGarbage)) this.#hasGarbage = true;
    };
    void this.#commits
      .submit(work, { frees: true })
      .catch(() => undefined)
      .then(() => {
        this.#isCollecting = false;
        this.#collectGarbage();
      });
  }

  #finish(tx: Transaction): void {
    this.#flush(tx);
    if (this.#sequence <= this.#sequenceTaken) return;
    this.#sequenceTaken = this.#sequence + SEQUENCES_AHEAD;
    tx.run('INSERT OR REPLACE INTO counters VALUES (?, ?)', 'sequence', this.#sequenceTaken);
  }

  #undo(): void {
    this.#tally.clear();
    this.#dropCaches();
    this.#sequenceTaken = 0;
  }

  /** Readers drop their cached buckets before a change is acknowledged. */
  #publish(): void {
    if (this.#bucketsChanged) this.bucketEpoch.advance();
    this.#bucketsChanged = false;
    this.#collectGarbage();
  }

  #changeWith(tx: Transaction, tally: Tally): Change {
    return {
      db: tx,
      tally,
      nextSequence: () => (this.#sequence += 1),
      ringOf: (partition) => this.#rings.get(policyOfPartition(partition)),
      isIn: (drive) => this.#isDriveIn(tx, drive),
      bucket: (id) => this.#bucket(tx, id),
      bucketsChanged: () => {
        this.#bucketsChanged = true;
        this.#bucketRows.clear();
      },
      leaveGarbage: () => (this.#hasGarbage = true),
    };
  }

  #isDriveIn(tx: Transaction, drive: number): boolean {
    const known = this.#drivesIn.get(drive);
    if (known !== undefined) return known;
    const isIn = this.#isIn(tx, drive);
    this.#drivesIn.set(drive, isIn);
    return isIn;
  }

  #bucket(tx: Transaction, id: number): KnownBucket | undefined {
    const known = this.#bucketRows.get(id);
    if (known) return known;
    const row = tx.get<KnownBucket>(`SELECT ${BUCKET_COLUMNS} FROM buckets WHERE id = ?`, id);
    if (this.#bucketRows.size >= BUCKETS_MAX) this.#bucketRows.clear();
    if (row) this.#bucketRows.set(id, row);
    return row;
  }

  /** What was read in a transaction that is undone, or before others changed their tables. */
  #dropCaches(): void {
    this.#drivesIn.clear();
    this.#bucketRows.clear();
  }

  readonly #flush = (tx: Transaction): void => {
    this.#sequence += 1;
    this.#tally.flush(tx, this.#sequence);
  };

  #readSequence(): number {
    const sql = 'SELECT value FROM counters WHERE name = ?';
    return this.#database.get<{ value: number }>(sql, 'sequence')?.value ?? 0;
  }
}
