import { setTimeout as sleep } from 'node:timers/promises';
import { policyOfPartition } from '../blobs/pieces.ts';
import { clearPartition, doubtPartition } from '../layout/drive-catalogue.ts';
import type { LayoutState } from '../layout/layout-state.ts';
import type { RepairResult, StorageWorker } from '../layout/manager-types.ts';
import type { Marked } from '../layout/partition-states.ts';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const PAUSE_MS = 2;
const MOST_AT_ONCE = 4;
/** While one waits for the disk, another can be read. */
const MOST_PER_WORKER = 2;

interface Stall {
  readonly tries: number;
  readonly retryAt: number;
}

/** Hands partitions that need it to workers: those that cannot lose another piece first, those that only move last. */
export class RepairQueue {
  readonly #state: LayoutState;
  readonly #workers: () => readonly StorageWorker[];
  /** Partitions in hand: of each there is one at a time. */
  readonly #running = new Set<number>();
  readonly #busy = new Map<StorageWorker, number>();
  /** What could not be repaired whole: tried again later, or when drives or rings change. */
  readonly #stalls = new Map<number, Stall>();
  readonly #jobs = new Set<Promise<void>>();
  readonly #clearing = new Set<Promise<void>>();
  readonly #rebuilt = new Map<number, number>();
  #isHeld = true;
  #isClosed = false;

  constructor(state: LayoutState, workers: () => readonly StorageWorker[]) {
    this.#state = state;
    this.#workers = workers;
  }

  /** Nothing is begun while threads may still have an older layout. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Threads have the present layout: what could not be repaired may be possible now. */
  release(): void {
    this.#isHeld = false;
    this.#stalls.clear();
    this.startNext();
  }

  /** Marked partitions of a policy that are worth trying now. */
  pending(policy: number): number[] {
    return [...this.#state.partitions.marked.keys()].filter(
      (partition) => policyOfPartition(partition) === policy && !this.#isStalled(partition),
    );
  }

  /** Pieces rebuilt for a policy since this was last asked. */
  resetRebuilt(policy: number): number {
    const rebuilt = this.#rebuilt.get(policy) ?? 0;
    this.#rebuilt.delete(policy);
    return rebuilt;
  }

  startNext(): void {
    while (!this.#isOnHold && !this.#isClosed && this.#jobs.size < MOST_AT_ONCE) {
      const worker = this.#freeWorker();
      const marked = worker && this.#next();
      if (!marked) return;
      this.#start(worker, () => this.#repair(worker, marked));
    }
  }

  /** Reads every piece of a partition and repairs what is damaged, marked or not. */
  async verify(partition: number): Promise<RepairResult> {
    for (;;) {
      if (this.#isClosed) return { examined: 0, rebuilt: 0, bytes: 0, unreadable: 0, whole: false };
      const worker = this.#freeWorker();
      if (!worker || this.#isOnHold || this.#running.has(partition)) {
        await sleep(10);
        continue;
      }
      const { promise, resolve, reject } = Promise.withResolvers<RepairResult>();
      this.#start(worker, async () => {
        try {
          resolve(await this.#run(worker, partition, true));
        } catch (error) {
          reject(error);
        }
      });
      const result = await promise;
      if (!result.whole) await this.#state.change((db) => doubtPartition(db, partition));
      return result;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#jobs);
    await Promise.allSettled(this.#clearing);
  }

  #start(worker: StorageWorker, work: () => Promise<void>): void {
    this.#busy.set(worker, (this.#busy.get(worker) ?? 0) + 1);
    const job = work().finally(() => {
      const left = (this.#busy.get(worker) ?? 1) - 1;
      if (left > 0) this.#busy.set(worker, left);
      else this.#busy.delete(worker);
      this.#jobs.delete(job);
      this.startNext();
    });
    this.#jobs.add(job);
  }

  #freeWorker(): StorageWorker | undefined {
    const load = (worker: StorageWorker) => this.#busy.get(worker) ?? 0;
    const [least] = this.#workers().toSorted((a, b) => load(a) - load(b));
    return least && load(least) < MOST_PER_WORKER ? least : undefined;
  }

  get #isOnHold(): boolean {
    return this.#isHeld || this.#state.isDirty;
  }

  #next(): Marked | undefined {
    let best: Marked | undefined;
    let bestRank = Infinity;
    for (const marked of this.#state.partitions.marked.values()) {
      if (this.#running.has(marked.partition) || this.#isStalled(marked.partition)) continue;
      const rank = this.#rank(marked);
      if (rank >= bestRank) continue;
      best = marked;
      bestRank = rank;
      if (rank === 0) break;
    }
    return best;
  }

  #rank({ partition, doubted }: Marked): number {
    const index = policyOfPartition(partition);
    const ring = this.#state.ring(index);
    if (!ring) return 3;
    const health = this.#state.partitions.health(partition, this.#state.policy(index), ring);
    if (health === 'critical') return 0;
    return health === 'degraded' || doubted ? 1 : 2;
  }

  #isStalled(partition: number): boolean {
    const stall = this.#stalls.get(partition);
    return stall !== undefined && this.#state.now() < stall.retryAt;
  }

  async #repair(worker: StorageWorker, marked: Marked): Promise<void> {
    const { partition, mark, doubted } = marked;
    try {
      const result = await this.#run(worker, partition, doubted);
      if (result.whole) {
        this.#clear(partition, mark);
      } else {
        this.#stall(partition);
        this.#publishUnreadable(partition, result);
        this.#state.partitions.dropSpreads(partition);
      }
    } catch {
      // The thread ended, or lost its drives: the partition stays marked.
      this.#stall(partition);
    }
    await sleep(PAUSE_MS);
  }

  /** The worker need not wait until that is on disk. */
  #clear(partition: number, mark: number): void {
    this.#running.add(partition);
    const job = this.#state
      .change((db) => clearPartition(db, partition, mark))
      .then(
        (isCleared) => {
          this.#stalls.delete(partition);
          if (isCleared) this.#state.partitions.unmark(partition);
          else this.#state.readMarks();
        },
        () => this.#stall(partition),
      )
      .finally(() => {
        this.#running.delete(partition);
        this.#clearing.delete(job);
      });
    this.#clearing.add(job);
  }

  async #run(worker: StorageWorker, partition: number, verify: boolean): Promise<RepairResult> {
    this.#running.add(partition);
    try {
      const result = await worker.repair(partition, verify);
      const policy = policyOfPartition(partition);
      this.#rebuilt.set(policy, (this.#rebuilt.get(policy) ?? 0) + result.rebuilt);
      return result;
    } finally {
      this.#running.delete(partition);
    }
  }

  #stall(partition: number): void {
    const tries = (this.#stalls.get(partition)?.tries ?? 0) + 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS);
    this.#stalls.set(partition, { tries, retryAt: this.#state.now() + wait });
  }

  #publishUnreadable(partition: number, { unreadable }: RepairResult): void {
    if (unreadable === 0 || (this.#stalls.get(partition)?.tries ?? 0) > 1) return;
    const policy = this.#state.policy(policyOfPartition(partition)).name;
    this.#state.publish({ kind: 'unreadable', policy, objects: unreadable });
  }
}
