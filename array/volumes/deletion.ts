import { fail, type Db, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { EngineError, isEngineError, isRefusal } from '../engine/errors.ts';
import type { PerformanceService } from '../performance/service.ts';
import { holdExportNames } from '../shares/export-names.ts';
import { releaseExportNames } from '../shares/repository.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeDependents } from './dependents.ts';
import { deleteVolume, findAnyVolume, findVolume, isNameTaken, listBinnedBefore, updateVolume } from './repository.ts';
import type { Volume } from './volume.ts';
import { capsOf, checkDetached, checkNoDestination, checkReady, checkUnmoved, isCapped, titleOf } from './rules.ts';

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
    // From here on it is not served.
    if (isBinnedShare) await this.#shares.push(name);
    return job;
  }

  #delete(name: string, { force, skipBin = false }: DeleteOptions, actor: string): Promise<Begun> {
    return this.#tools.store.write((tx): Begun => {
      const volume = findVolume(tx, name);
      if (!volume) throw fail('volume_not_found', { id: name });
      if (volume.state === 'deleting') return { job: this.#continue(tx, volume), isBinnedShare: false };
      checkReady(volume);
      checkDeletable(tx, volume, force, this.#dependents);
      if (skipBin || !this.#bin().isOn) return { job: this.#begin(tx, volume, actor), isBinnedShare: false };
      this.#putInBin(tx, volume, actor);
      return { job: undefined, isBinnedShare: volume.kind === 'file' };
    });
  }

  /** For good. */
  deleteFromBin(name: string, actor: string): Promise<number> {
    return this.#tools.store.write((tx) => {
      const volume = findAnyVolume(tx, name);
      if (!volume) throw fail('volume_not_found', { id: name });
      if (volume.state !== 'binned') throw fail('nothing_to_delete');
      return this.#begin(tx, volume, actor);
    });
  }

  /**
   * What it was before it was deleted, with its data and snapshots. Servers and snapshot policies have to be attached
   * again; export names that others have taken since are replaced by similar ones.
   */
  async undelete(name: string, newName: string | undefined, actor: string): Promise<void> {
    const { engine, store } = this.#tools;
    const binned = store.read((db) => binnedVolume(db, name));
    // Caps are the engine's to keep only while it runs: it may have been started since the volume was deleted.
    if (isCapped(binned)) await engine.setCaps(name, capsOf(binned));
    const isShare = await store.write((tx) => this.#takeFromBin(tx, name, newName, actor));
    if (isShare) await this.#shares.push(name);
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
      for (const volume of listBinnedBefore(tx, before)) this.#begin(tx, volume, 'system');
    });
  }

  /** At a start: jobs go on by themselves, so only what has none left gets one. */
  resume(tx: Tx, volume: Volume): void {
    this.#continue(tx, volume);
  }

  #putInBin(tx: Tx, volume: Volume, actor: string): void {
    const { clock, events } = this.#tools;
    const now = clock.now();
    // Nothing takes snapshots of it any more.
    this.#dependents.detachSnapshotPolicies(tx, volume.name);
    releaseExportNames(tx, volume.name);
    updateVolume(tx, volume.name, { state: 'binned', binnedAt: now, modifiedAt: now });
    const title = `${titleOf(volume)} was put in the recycle bin.`;
    events.record(tx, { severity: 'notice', title, subject: `volume:${volume.name}`, actor });
  }

  #takeFromBin(tx: Tx, name: string, newName: string | undefined, actor: string): boolean {
    const { clock, events } = this.#tools;
    const volume = binnedVolume(tx, name);
    const displayName = newName ?? volume.displayName;
    if (isNameTaken(tx, displayName)) throw fail('name_taken', { name: displayName });
    updateVolume(tx, name, { displayName, state: 'ready', binnedAt: null, modifiedAt: clock.now() });
    if (volume.kind === 'file') holdExportNames(tx, name);
    const title = `${titleOf({ ...volume, displayName })} was brought back from the recycle bin.`;
    events.record(tx, { severity: 'notice', title, subject: `volume:${name}`, actor });
    return volume.kind === 'file';
  }

  #begin(tx: Tx, volume: Volume, actor: string): number {
    const { clock, events } = this.#tools;
    releaseExportNames(tx, volume.name);
    const job = this.#enqueue(tx, volume, { state: volume.state, binned_at: volume.binnedAt });
    updateVolume(tx, volume.name, { state: 'deleting', binnedAt: null, modifiedAt: clock.now() });
    const title = `${titleOf(volume)} is being deleted.`;
    events.record(tx, { severity: 'notice', title, subject: `volume:${volume.name}`, actor });
    return job;
  }

  #continue(tx: Tx, volume: Volume): number {
    const { jobs } = this.#tools;
    const state = volume.deleteJob === null ? undefined : jobs.get(volume.deleteJob)?.state;
    if (volume.deleteJob !== null && (state === 'queued' || state === 'running')) return volume.deleteJob;
    return this.#enqueue(tx, volume);
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
        const present = findAnyVolume(tx, volume);
        if (!present) return;
        deleteVolume(tx, volume, this.#dependents);
        events.record(tx, { title: `${titleOf(present)} was deleted.`, subject: `volume:${volume}` });
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
    const present = findAnyVolume(tx, volume);
    if (!present) return;
    const title = `${titleOf(present)} could not be deleted: ${reason} Delete it again once that is repaired.`;
    this.#tools.events.record(tx, { severity: 'error', title, subject: `volume:${volume}` });
  }
}

function binnedVolume(db: Db, name: string): Volume {
  const volume = findAnyVolume(db, name);
  if (!volume) throw fail('volume_not_found', { id: name });
  if (volume.state !== 'binned') throw fail('volume_not_binned', { id: name });
  return volume;
}

/** By force with its snapshots. */
export function checkDeletable(tx: Tx, volume: Volume, force: boolean, dependents: VolumeDependents): void {
  checkDetached(volume, dependents.listAttachedServers(tx, volume.name));
  checkUnmoved(volume);
  checkNoDestination(volume);
  if (dependents.isMirrorSource(tx, volume.name)) {
    throw fail('volume_mirrored', { id: volume.name });
  }
  const count = force ? 0 : dependents.countSnapshots(tx, volume.name);
  if (count > 0) throw fail('volume_has_snapshots', { id: volume.name, count });
}
