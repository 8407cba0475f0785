import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { runFreeing, type Db, type Store, type Tx } from '../store/index.ts';
import type { Job } from './job.ts';
import {
  claimJob,
  deleteFinishedBefore,
  findJob,
  findNextStart,
  findStartable,
  findUnfinished,
  finishJob,
  insertJob,
  releaseAbandoned,
  requeueJob,
  saveProgress,
} from './repository.ts';

/** The result of a run. `finish` runs in the transaction that ends the job: both happen or neither. */
export type JobOutcome =
  | { readonly outcome: 'done'; readonly finish?: (tx: Tx) => void }
  | { readonly outcome: 'failed'; readonly reason: string; readonly finish?: (tx: Tx) => void }
  | { readonly outcome: 'retry'; readonly afterMs: number; readonly reason: string };

export interface RunningJob<A = unknown, C = unknown> {
  readonly id: number;
  readonly arguments: A;
  readonly attempts: number;
  /** What an earlier, interrupted run of this job saved. */
  readonly checkpoint: C | undefined;
  /** Aborted when the service stops: return soon; the job continues at the next start. */
  readonly signal: AbortSignal;
  /** Durable when it resolves. */
  save(progress: number, note: string, checkpoint?: C): Promise<void>;
}

/** Must be safe to run again from its last checkpoint: a kill -9 can fall between any two steps. */
export type JobRun<A = unknown, C = unknown> = (job: RunningJob<A, C>) => Promise<JobOutcome>;

type GivenUp<A> = (tx: Tx, args: A, reason: string) => void;

export interface JobTraits {
  /** It frees space: it runs while the disk is full. */
  readonly frees?: boolean;
}

interface JobKind {
  readonly run: JobRun;
  readonly givenUp: GivenUp<unknown> | undefined;
  readonly frees: boolean;
}

interface JobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly parallelMax?: number;
}

const PARALLEL_MAX_DEFAULT = 8;
const KEEP_FINISHED_MS = 7 * 24 * 3600 * 1000;
const RETRY_MS = 1000;
const SURPRISES_MAX = 5;
const IDLE_CHECK_MS = 60_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A run may also end in an unexpected error. */
type Ending = JobOutcome & { readonly surprise?: true };

/** Long work, stored in a table, so that it survives kill -9 and resumes from its checkpoint. */
export class Jobs {
  readonly #options: JobsOptions;
  readonly #kinds = new Map<string, JobKind>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #waiters = new Map<number, Set<() => void>>();
  readonly #listeners: ((subject: string) => void)[] = [];
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #started = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /**
   * `givenUp` runs in the transaction that ends a job after too many unexpected errors: its subject must not wait
   * forever.
   */
  register<A, C = unknown>(
    kind: string,
    run: JobRun<A, C>,
    givenUp?: GivenUp<A>,
    { frees = false }: JobTraits = {},
  ): void {
    this.#kinds.set(kind, { run, givenUp, frees } as JobKind);
  }

  /** Part of the caller's transaction: the job exists exactly if the change that requested it does. */
  enqueue(tx: Tx, kind: string, subject: string, args: unknown): number {
    const id = insertJob(tx, {
      kind,
      subject,
      arguments: JSON.stringify(args ?? null),
      now: this.#options.clock.now(),
    });
    tx.afterCommit(() => {
      this.#wake(0);
    });
    return id;
  }

  get(id: number): Job | undefined {
    return this.#options.store.read((db) => findJob(db, id));
  }

  /** Whether a job of the subject is queued or running. */
  isBusy(db: Db, subject: string): boolean {
    return this.unfinished(db, subject) !== undefined;
  }

  /** The oldest job of the subject that is queued or running. */
  unfinished(db: Db, subject: string): number | undefined {
    return findUnfinished(db, subject);
  }

  async start(): Promise<void> {
    const { store, log } = this.#options;
    // A full disk must neither prevent a start nor block deletions.
    const resumed = await runFreeing(true, () => store.write(releaseAbandoned));
    if (resumed > 0) log.info({ jobs: resumed }, 'resuming jobs that were cut off');
    this.#started = true;
    this.#wake(0);
  }

  /** Called with the subject of a job that starts, saves its progress or ends, once that is durable. Must not throw. */
  onProgress(listener: (subject: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Starts no more jobs and waits for the running ones to reach a point they can resume from. */
  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await Promise.all(this.#running.values());
    for (const id of this.#waiters.keys()) this.#notifyWaiters(id);
  }

  /** Resolves with the job once it has ended, or as it is at the timeout; a negative timeout waits forever, 0 not at all. */
  async wait(id: number, timeoutMs: number): Promise<Job | undefined> {
    const job = this.get(id);
    if (!job || job.finishedAt !== null || timeoutMs === 0 || this.#stopping.signal.aborted) return job;
    await new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      const wake = () => {
        clearTimeout(timer);
        waiters.delete(wake);
        resolve();
      };
      const timer = timeoutMs < 0 ? undefined : setTimeout(wake, Math.min(timeoutMs, TIMER_MS_MAX));
      this.#waiters.set(id, waiters.add(wake));
    });
    return this.get(id);
  }

  #wake(inMs: number): void {
    if (!this.#started) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#startJobs();
      },
      Math.min(inMs, IDLE_CHECK_MS),
    );
  }

  #startJobs(): void {
    const { store, clock, log, parallelMax = PARALLEL_MAX_DEFAULT } = this.#options;
    const now = clock.now();
    try {
      // Jobs that are being claimed or requeued still appear startable.
      const rows = store.read((db) => findStartable(db, now, parallelMax));
      const idle = rows.filter(({ id }) => !this.#running.has(id));
      for (const job of idle.slice(0, parallelMax - this.#running.size)) this.#track(job);
      // A job that is due but blocked by its subject or by the limit is started when the one before it ends.
      const next = store.read((db) => findNextStart(db, now));
      if (next !== undefined) this.#wake(next - now);
    } catch (error) {
      log.error({ error }, 'could not look for jobs');
      this.#wake(RETRY_MS);
    }
  }

  #track(job: Job): void {
    // Set either way: the caller that woke this may or may not be freeing space.
    const frees = this.#kinds.get(job.kind)?.frees ?? false;
    const tracked = runFreeing(frees, () => this.#runJob(job)).finally(() => {
      this.#running.delete(job.id);
      this.#wake(0);
    });
    this.#running.set(job.id, tracked);
  }

  async #runJob(job: Job): Promise<void> {
    const { store, log } = this.#options;
    const ticket = randomUUID();
    try {
      if (!(await store.write((tx) => claimJob(tx, job.id, ticket)))) return;
      this.#notifyListeners(job);
    } catch (error) {
      log.error({ error, job: job.id, kind: job.kind }, 'a job could not be claimed');
      return this.#pause();
    }
    await this.#end(job, ticket, await this.#run(job, ticket));
  }

  async #run(job: Job, ticket: string): Promise<Ending> {
    const run = this.#kinds.get(job.kind)?.run;
    if (!run) return { outcome: 'failed', reason: `This release has no work of kind ${job.kind}.` };
    try {
      return await run(this.#handle(job, ticket));
    } catch (error) {
      if (this.#stopping.signal.aborted) return { outcome: 'retry', afterMs: 0, reason: job.note };
      return this.#surprise(job, error);
    }
  }

  /** Retried until it is durable: a full disk delays the end of a job, it does not lose it. */
  async #end(job: Job, ticket: string, ending: Ending): Promise<void> {
    for (;;) {
      try {
        await this.#options.store.write((tx) => {
          this.#record(tx, job, ticket, ending);
        });
        this.#notifyListeners(job);
        return;
      } catch (error) {
        ending = this.#surprise(job, error);
        // At the next start no run holds its ticket and it runs again.
        if (this.#stopping.signal.aborted) return;
        await this.#pause();
      }
    }
  }

  #record(tx: Tx, job: Job, ticket: string, ending: Ending): void {
    const now = this.#options.clock.now();
    if (ending.outcome === 'retry') {
      const surprises = ending.surprise ? job.surprises + 1 : 0;
      requeueJob(tx, job.id, ticket, { runAfter: now + ending.afterMs, note: ending.reason, surprises });
      return;
    }
    const error = ending.outcome === 'failed' ? ending.reason : null;
    if (finishJob(tx, job.id, ticket, { state: ending.outcome, error, now })) ending.finish?.(tx);
    deleteFinishedBefore(tx, now - KEEP_FINISHED_MS);
    tx.afterCommit(() => {
      this.#notifyWaiters(job.id);
    });
  }

  #surprise(job: Job, error: unknown): Ending {
    this.#options.log.error({ error, job: job.id, kind: job.kind }, 'a job failed unexpectedly');
    const reason = error instanceof Error ? error.message : String(error);
    if (job.surprises + 1 >= SURPRISES_MAX) {
      const { givenUp } = this.#kinds.get(job.kind) ?? {};
      return { outcome: 'failed', reason, finish: (tx) => givenUp?.(tx, JSON.parse(job.arguments), reason) };
    }
    return { outcome: 'retry', afterMs: RETRY_MS * 2 ** job.surprises, reason, surprise: true };
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }

  #handle(job: Job, ticket: string): RunningJob {
    const { store } = this.#options;
    let checkpoint = job.checkpoint;
    return {
      id: job.id,
      arguments: JSON.parse(job.arguments) as unknown,
      attempts: job.attempts + 1,
      checkpoint: checkpoint === null ? undefined : (JSON.parse(checkpoint) as unknown),
      signal: this.#stopping.signal,
      save: async (progress, note, saved) => {
        if (saved !== undefined) checkpoint = JSON.stringify(saved);
        await store.write((tx) => {
          saveProgress(tx, job.id, ticket, { progress: Math.floor(progress), note, checkpoint });
        });
        this.#notifyListeners(job);
      },
    };
  }

  #notifyListeners({ subject }: Job): void {
    for (const listener of this.#listeners) listener(subject);
  }

  #notifyWaiters(id: number): void {
    for (const resolve of this.#waiters.get(id) ?? []) resolve();
    this.#waiters.delete(id);
  }
}
