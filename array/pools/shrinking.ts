import { bytes, capacityText, fail, type JobOutcome, type RunningJob, type Tx, Locks } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { EngineError, isEngineError } from '../engine/errors.ts';
import { releaseFromPool } from '../raid-groups/repository.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { findPool, updatePool } from './repository.ts';
import type { Pool } from './pool.ts';

interface ShrinkArguments {
  readonly pool: string;
  readonly group: string;
}

interface Running {
  readonly cancelling: AbortController;
  fraction: number;
  /** Who cancelled it. */
  cancelledBy: string | undefined;
}

/** Why a pool did not shrink. */
interface Ending {
  readonly words: string;
  readonly severity: 'notice' | 'error';
  readonly actor: string;
}

const CANCELLED = 'The shrink was cancelled.';
const KIND = 'pools.shrink';
const SAVE_EVERY_MS = 2_000;
const RETRY_MS = 1_000;

/**
 * Takes a RAID group out of a pool: a job that moves what lies on it. The row says that the pool shrinks until the job
 * has ended, one way or the other; only then is a cancellation answered.
 */
export class PoolShrinking {
  readonly #tools: ArrayTools;
  readonly #raidGroups: RaidGroupService;
  readonly #turns: Locks;
  readonly #running = new Map<string, Running>();

  constructor(tools: ArrayTools, raidGroups: RaidGroupService, turns: Locks) {
    this.#tools = tools;
    this.#raidGroups = raidGroups;
    this.#turns = turns;
    tools.jobs.register<ShrinkArguments>(
      KIND,
      (job) => this.#run(job),
      (tx, args, reason) => this.#giveUp(tx, args, reason),
    );
  }

  /** From 0 to 1. */
  progress(pool: Pool): number {
    const running = this.#running.get(pool.name);
    if (running) return running.fraction;
    return pool.shrinkJob === null ? 0 : (this.#tools.jobs.get(pool.shrinkJob)?.progress ?? 0) / 100;
  }

  /** Resolves with the number of the job. */
  start(name: string, group: string, actor: string): Promise<number> {
    return this.#turns.run(name, async () => {
      await this.#tools.readings.refresh();
      return this.#tools.store.write((tx) => this.#begin(tx, name, group, actor));
    });
  }

  async cancel(name: string, actor: string): Promise<void> {
    const { store, jobs } = this.#tools;
    const pool = store.read((db) => findPool(db, name));
    if (pool?.state !== 'ready') throw fail('pool_not_found', { id: name });
    const { shrinkGroup: group, shrinkJob: jobId } = pool;
    if (group === null || jobId === null) throw fail('pool_not_shrinking', { id: name });
    const running = this.#running.get(name);
    if (!running) return this.#cancelWaiting(pool, group, actor);
    running.cancelledBy ??= actor;
    running.cancelling.abort();
    const job = await jobs.wait(jobId, -1);
    if (job?.state === 'done') throw tooLate(name);
    if (job?.state !== 'failed') throw fail('stopping');
  }

  /** The job has yet to start, or to start again; a run before a restart may have left the group closed in the engine. */
  async #cancelWaiting(pool: Pool, group: string, actor: string): Promise<void> {
    const { store, engine } = this.#tools;
    const capacityBytes = this.#capacityWithout(pool, group);
    this.#running.set(pool.name, { cancelling: new AbortController(), fraction: 0, cancelledBy: actor });
    try {
      await partOf(engine, 'hardware').shrinkPool(pool.name, group, capacityBytes, { signal: AbortSignal.abort() });
    } catch (error) {
      if (!isEngineError(error, 'cancelled')) throw error;
      await store.write((tx) => this.#endUnchanged(tx, pool.name, cancelledBy(actor)));
      return;
    } finally {
      this.#running.delete(pool.name);
    }
    await store.write((tx) => this.#finish(tx, { pool: pool.name, group }, capacityBytes));
    throw tooLate(pool.name);
  }

  #begin(tx: Tx, name: string, group: string, actor: string): number {
    const { jobs, events, clock } = this.#tools;
    const pool = findPool(tx, name);
    if (pool?.state !== 'ready') throw fail('pool_not_found', { id: name });
    this.#refuse(pool, group);
    const job = jobs.enqueue(tx, KIND, `pool:${name}`, { pool: name, group } satisfies ShrinkArguments);
    updatePool(tx, name, { shrinkGroup: group, shrinkJob: job, modifiedAt: clock.now() });
    const title = `Pool ${called(pool)} is being shrunk: ${group} is emptied and leaves it.`;
    events.record(tx, { title, subject: `pool:${name}`, actor });
    return job;
  }

  #refuse(pool: Pool, group: string): void {
    const { name, shrinkGroup } = pool;
    if (shrinkGroup !== null) {
      throw fail('pool_shrinking_already', { id: name, group: shrinkGroup });
    }
    const all = this.#raidGroups.ofPool(name);
    if (this.#raidGroups.get(group).pool !== name) {
      throw fail('group_not_in_pool', { group, id: name });
    }
    if (all.length === 1) {
      throw fail('only_group_of_pool', { group, id: name });
    }
    const left = this.#capacityWithout(pool, group);
    const used = this.#tools.readings.pool(name)?.usedBytes ?? 0;
    if (used > left || left === 0) {
      throw fail('shrink_leaves_too_little', { id: name, used: capacityText(used), left: capacityText(left), group });
    }
  }

  async #run(job: RunningJob<ShrinkArguments>): Promise<JobOutcome> {
    const { pool, group } = job.arguments;
    const found = this.#tools.store.read((db) => findPool(db, pool));
    if (found?.shrinkJob !== job.id) return { outcome: 'failed', reason: CANCELLED };
    if (this.#running.has(pool)) return { outcome: 'retry', afterMs: RETRY_MS, reason: 'It is being cancelled.' };
    const running: Running = {
      cancelling: new AbortController(),
      fraction: this.progress(found),
      cancelledBy: undefined,
    };
    this.#running.set(pool, running);
    const saving = setInterval(() => void this.#saveProgress(job, running), SAVE_EVERY_MS);
    try {
      const capacityBytes = this.#capacityWithout(found, group);
      await partOf(this.#tools.engine, 'hardware').shrinkPool(pool, group, capacityBytes, {
        signal: AbortSignal.any([job.signal, running.cancelling.signal]),
        onProgress: (fraction) => (running.fraction = fraction),
      });
      return { outcome: 'done', finish: (tx) => this.#finish(tx, job.arguments, capacityBytes) };
    } catch (error) {
      return this.#classify(error, job, running);
    } finally {
      clearInterval(saving);
      this.#running.delete(pool);
    }
  }

  #classify(error: unknown, job: RunningJob<ShrinkArguments>, { cancelledBy: actor }: Running): JobOutcome {
    if (isEngineError(error, 'cancelled') && actor !== undefined) {
      const finish = (tx: Tx): void => this.#endUnchanged(tx, job.arguments.pool, cancelledBy(actor));
      return { outcome: 'failed', reason: CANCELLED, finish };
    }
    if (job.signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'The array stopped.' };
    if (isEngineError(error, 'interrupted')) return { outcome: 'retry', afterMs: RETRY_MS, reason: error.message };
    if (!(error instanceof EngineError)) throw error;
    const reason = error.message;
    return { outcome: 'failed', reason, finish: (tx) => this.#giveUp(tx, job.arguments, reason) };
  }

  #giveUp(tx: Tx, { pool }: ShrinkArguments, reason: string): void {
    this.#endUnchanged(tx, pool, { words: `failed: ${reason}`, severity: 'error', actor: 'system' });
  }

  /** The pool is as it was. */
  #endUnchanged(tx: Tx, name: string, { words, ...event }: Ending): void {
    const pool = findPool(tx, name);
    if (!pool || pool.shrinkGroup === null) return;
    updatePool(tx, pool.name, { shrinkGroup: null, shrinkJob: null, modifiedAt: this.#tools.clock.now() });
    const title = `Shrinking pool ${called(pool)} ${words}`.replace(/\.?$/, '.');
    this.#tools.events.record(tx, { title, subject: `pool:${name}`, ...event });
  }

  #finish(tx: Tx, { pool, group }: ShrinkArguments, capacityBytes: number): void {
    const { clock, events } = this.#tools;
    const found = findPool(tx, pool);
    // A job that just ended and a cancellation that came too late both see to it.
    if (found?.shrinkGroup !== group) return;
    const now = clock.now();
    updatePool(tx, pool, { shrinkGroup: null, shrinkJob: null, capacityBytes: bytes(capacityBytes), modifiedAt: now });
    releaseFromPool(tx, [group], now);
    const title = `Pool ${called(found)} was shrunk to ${capacityText(capacityBytes)}; ${group} is free.`;
    events.record(tx, { title, subject: `pool:${pool}` });
  }

  /** The group takes along what the pool had of it. */
  #capacityWithout({ name, capacityBytes }: Pool, group: string): number {
    const share = this.#raidGroups.ofPool(name).find((each) => each.name === group)?.poolBytes ?? 0;
    return capacityBytes - share;
  }

  async #saveProgress(job: RunningJob, { fraction }: Running): Promise<void> {
    try {
      await job.save(fraction * 100, 'moving data');
    } catch (error) {
      this.#tools.log.warn({ error, job: job.id }, 'the progress of a shrink could not be saved');
    }
  }
}

function cancelledBy(actor: string): Ending {
  return { words: 'was cancelled', severity: 'notice', actor };
}

function tooLate(pool: string): Error {
  return fail('pool_shrunk_already', { id: pool });
}
