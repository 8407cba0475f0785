import { fail, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { EngineError, isEngineError, isRefusal } from '../engine/errors.ts';
import type { PerformanceService } from '../performance/service.ts';
import { holdExportNames } from '../shares/export-names.ts';
import { releaseExportNames } from '../shares/repository.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeDependents } from './dependents.ts';
import { deleteVolume, findAnyVolume, findVolume, listBinnedBefore, updateVolume } from './repository.ts';
import type { Volume } from './volume.ts';
import { checkDetached, checkNoDestination, checkReady, checkUnmoved, titleOf } from './rules.ts';

export interface RecycleBin {
  readonly isOn: boolean;
  readonly hours: number;
}

interface DeleteOptions {
  /** With its snapshots. */
  readonly force: boolean;
  readonly skipBin?: boolean | undefined;
}

interface Neighbours {
  readonly performance: PerformanceService;
  readonly shares: ShareService;
  readonly dependents: VolumeDependents;
  readonly bin: () => RecycleBin;
}

interface Arguments {
  readonly volume: string;
  /** What it is again when the engine refuses; left out where the job goes on after a restart. */
  readonly before?: { readonly state: Volume['state']; readonly binned_at: number | null };
}

interface Begun {
  readonly job: number | undefined;
  readonly isBinnedShare: boolean;
}

const KIND = 'volume-delete';
const RETRY_MS = 1_000;
const PURGE_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * Ends volumes. In the recycle bin one keeps its bytes and loses its name; from there, or at once where there is no
 * bin, a job deletes it for good.
 */
export class VolumeDeletion {
  readonly #tools: ArrayTools;
  readonly #performance: PerformanceService;
  readonly #shares: ShareService;
  readonly #dependents: VolumeDependents;
  readonly #bin: () => RecycleBin;
  #timer: NodeJS.Timeout | undefined;

  constructor(tools: ArrayTools, { performance, shares, dependents, bin }: Neighbours) {
    this.#tools = tools;
    this.#performance = performance;
    this.#shares = shares;
    this.#dependents = dependents;
    this.#bin = bin;
    tools.jobs.register<Arguments>(
      KIND,
      (job) => this.#run(job),
      (tx, args, reason) => this.#givenUp(tx, args, reason),
      { frees: true },
    );
  }

  /** The number of the job that does it; none when it went to the recycle bin. */
  async delete(name: string, { force, skipBin = false }: DeleteOptions, actor: string): Promise<number | undefined> {
    const { job, isBinnedShare } = await this.#delete(name, { force, skipBin }, actor);
    // From here on nobody reaches it.
    if (isBinnedShare) await this.#shares.push(name);
    return job;
  }

  #delete(name: string, { force, skipBin = false }: DeleteOptions, actor: string): Promise<Begun> {
    return this.#tools.store.write((tx): Begun => {
      const row = findVolume(tx, name);
      if (!row) throw fail('volume_not_found', { id: name });
      if (row.state === 'deleting') return { job: this.#continue(tx, row), isBinnedShare: false };
      checkReady(row);
      checkDeletable(tx, row, force, this.#dependents);
      if (skipBin || !this.#bin().isOn) return { job: this.#begin(tx, row, actor), isBinnedShare: false };
      this.#putInBin(tx, row, actor);
      return { job: undefined, isBinnedShare: row.kind === 'file' };
    });
  }

  /** For good. */
  deleteFromBin(name: string, actor: string): Promise<number> {
    return this.#tools.store.write((tx) => {
      const row = findAnyVolume(tx, name);
      if (!row) throw fail('volume_not_found', { id: name });
      if (row.state !== 'binned') throw fail('nothing_to_delete');
      return this.#begin(tx, row, actor);
    });
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.purge().catch((error: unknown) => this.#tools.log.error({ error }, 'the recycle bin could not be emptied'));
    }, PURGE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Deletes what was in the bin for long enough. */
  async purge(): Promise<void> {
    const { store, clock } = this.#tools;
    const before = clock.now() - this.#bin().hours * HOUR_MS;
    if (store.read((db) => listBinnedBefore(db, before)).length === 0) return;
    await store.write((tx) => {
      for (const row of listBinnedBefore(tx, before)) this.#begin(tx, row, 'system');
    });
  }

  /** At a start: jobs go on by themselves, so only what has none left gets one. */
  resume(tx: Tx, row: Volume): void {
    this.#continue(tx, row);
  }

  #putInBin(tx: Tx, row: Volume, actor: string): void {
    const { clock, events } = this.#tools;
    const now = clock.now();
    // Nothing takes snapshots of it any more.
    this.#dependents.detachSnapshotPolicies(tx, row.name);
    releaseExportNames(tx, row.name);
    updateVolume(tx, row.name, { state: 'binned', binnedAt: now, modifiedAt: now });
    const title = `${titleOf(row)} was put in the recycle bin.`;
    events.record(tx, { severity: 'notice', title, subject: `volume:${row.name}`, actor });
  }

  #begin(tx: Tx, row: Volume, actor: string): number {
    const { clock, events } = this.#tools;
    releaseExportNames(tx, row.name);
    const job = this.#enqueue(tx, row, { state: row.state, binned_at: row.binnedAt });
    updateVolume(tx, row.name, { state: 'deleting', binnedAt: null, modifiedAt: clock.now() });
    const title = `${titleOf(row)} is being deleted.`;
    events.record(tx, { severity: 'notice', title, subject: `volume:${row.name}`, actor });
    return job;
  }

  #continue(tx: Tx, row: Volume): number {
    const { jobs } = this.#tools;
    const state = row.deleteJob === null ? undefined : jobs.get(row.deleteJob)?.state;
    if (row.deleteJob !== null && (state === 'queued' || state === 'running')) return row.deleteJob;
    return this.#enqueue(tx, row);
  }

  #enqueue(tx: Tx, { name }: Volume, before?: Arguments['before']): number {
    const wanted: Arguments = { volume: name, ...(before && { before }) };
    const job = this.#tools.jobs.enqueue(tx, KIND, `volume:${name}`, wanted);
    updateVolume(tx, name, { deleteJob: job });
    return job;
  }

  async #run({ arguments: wanted }: RunningJob<Arguments>): Promise<JobOutcome> {
    const { volume } = wanted;
    const { engine, readings, events, store } = this.#tools;
    const { pool, kind } = store.read((db) => findAnyVolume(db, volume)) ?? {};
    try {
      // The engine knows nothing of what is in it; its bytes would stay without a record.
      if (pool !== undefined && readings.pool(pool)?.isOpen === false)
        throw new EngineError('conflict', `Pool ${pool} could not be opened; repair it, or delete it by force.`);
      if (kind === 'file') await engine.removeShare(volume);
      await engine.deleteVolume(volume);
    } catch (error) {
      if (isRefusal(error)) return this.#refused(wanted, error.message);
      if (!isEngineError(error, 'interrupted')) throw error;
      return { outcome: 'retry', afterMs: RETRY_MS, reason: error.message };
    }
    return {
      outcome: 'done',
      finish: (tx) => {
        const row = findAnyVolume(tx, volume);
        if (!row) return;
        deleteVolume(tx, volume, this.#dependents);
        events.record(tx, { title: `${titleOf(row)} was deleted.`, subject: `volume:${volume}` });
        tx.afterCommit(() => {
          readings.removeVolume(volume);
          this.#performance.remove('volume', volume);
        });
      },
    };
  }

  /** The volume is what it was. */
  #refused({ volume, before }: Arguments, reason: string): JobOutcome {
    return {
      outcome: 'failed',
      reason,
      finish: (tx) => {
        this.#givenUp(tx, { volume }, reason);
        const { state, binned_at: binnedAt } = before ?? { state: 'ready', binned_at: null };
        updateVolume(tx, volume, { state, binnedAt, deleteJob: null });
        if (findVolume(tx, volume)?.kind !== 'file') return;
        holdExportNames(tx, volume);
        tx.afterCommit(() => void this.#shares.attempt(volume));
      },
    };
  }

  #givenUp(tx: Tx, { volume }: Arguments, reason: string): void {
    const row = findAnyVolume(tx, volume);
    if (!row) return;
    const title = `${titleOf(row)} could not be deleted: ${reason} Delete it again once that is mended.`;
    this.#tools.events.record(tx, { severity: 'error', title, subject: `volume:${volume}` });
  }
}

/** By force with its snapshots. */
export function checkDeletable(tx: Tx, row: Volume, force: boolean, dependents: VolumeDependents): void {
  checkDetached(row, dependents.listAttachedServers(tx, row.name));
  checkUnmoved(row);
  checkNoDestination(row);
  if (dependents.isMirrorSource(tx, row.name)) {
    throw fail('volume_mirrored', { id: row.name });
  }
  const count = force ? 0 : dependents.countSnapshots(tx, row.name);
  if (count > 0) throw fail('volume_has_snapshots', { id: row.name, count });
}
