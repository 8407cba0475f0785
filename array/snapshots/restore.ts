import { fail, type Db, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import { EngineError, isEngineError } from '../engine/errors.ts';
import type { ArrayTools } from '../tools.ts';
import { findVolume, updateVolume } from '../volumes/repository.ts';
import { checkDetached, checkNoDestination, checkReady, checkUnmoved, titleOf } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import type { Volume } from '../volumes/volume.ts';
import { findSnapshotOfVolume } from './repository.ts';
import type { SnapshotService } from './service.ts';
import type { Snapshot, SnapshotInPlace } from './snapshot.ts';

export interface RestoreWanted {
  /** By identifier, or by name among those of the volume. */
  readonly snapshot: string;
  /** Although servers have it attached. */
  readonly isForced: boolean;
}

interface RestoreStarted {
  readonly job: number;
  /** Holds what the volume held before. */
  readonly safety: string;
}

/** What the job keeps on record. */
interface Arguments {
  readonly volume: string;
  readonly snapshot: string;
  readonly safety: string;
  readonly actor: string;
}

/** Records of others that a restore has to ask or to change. */
export interface RestoreDependents {
  listAttachedServers(db: Db, volume: string): string[];
  /** What is known of the files of a share is out of date. */
  restored(tx: Tx, volume: string): void;
}

const KIND = 'restore-snapshot';
const RETRY_MS = 1_000;
const NAME_MAX = 128;

/**
 * Takes a volume back to one of its snapshots. First a snapshot of the present data is taken, out of sight. One
 * transaction shows it, marks the volume and queues the job, so either all of that is there after a crash or nothing.
 * The job asks the engine to revert the volume unless that was done since the safety snapshot, so a job that is run
 * again after a crash does not undo what servers wrote after the first time.
 */
export class SnapshotRestore {
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #snapshots: SnapshotService;
  readonly #dependents: RestoreDependents;

  constructor(tools: ArrayTools, volumes: VolumeService, snapshots: SnapshotService, dependents: RestoreDependents) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
    this.#dependents = dependents;
    tools.jobs.register<Arguments>(
      KIND,
      (job) => this.#run(job),
      (tx, args, reason) => this.#giveUp(tx, args, reason),
    );
  }

  async start(name: string, wanted: RestoreWanted, actor: string): Promise<RestoreStarted> {
    const { store, jobs } = this.#tools;
    const volume = this.#volumes.get(name);
    const target = store.read((db) => this.#check(db, volume, wanted));
    const [safety] = await this.#snapshots.begin([
      { volume, displayName: safetyName(target.displayName), orSimilar: true, application: 'user' },
    ]);
    if (!safety) throw fail('volume_gone_meanwhile');
    let job = 0;
    try {
      // A scan holds on to files by the state they had.
      await this.#volumes.interruptScan(name);
      await this.#snapshots.show([safety], actor, (tx) => {
        const { name: snapshot } = this.#check(tx, this.#volumes.get(name), wanted);
        updateVolume(tx, name, { restoring: snapshot });
        const args: Arguments = { volume: name, snapshot, safety: safety.name, actor };
        job = jobs.enqueue(tx, KIND, `restore:${name}`, args);
      });
    } catch (error) {
      await this.#snapshots.drop([safety]);
      throw error;
    }
    return { job, safety: safety.name };
  }

  #check(db: Db, volume: Volume, { snapshot, isForced }: RestoreWanted): Snapshot {
    checkReady(volume);
    checkUnmoved(volume);
    checkNoDestination(volume);
    const found = findSnapshotOfVolume(db, volume.name, snapshot);
    if (!found) throw fail('snapshot_not_found', { id: snapshot });
    if (!isForced) {
      const servers = this.#dependents.listAttachedServers(db, volume.name);
      checkDetached(volume, servers, ', or use force=YES');
    }
    return found;
  }

  async #run({ arguments: args }: RunningJob<Arguments>): Promise<JobOutcome> {
    const { volume, snapshot, safety } = args;
    const present = this.#tools.store.read((db) => findVolume(db, volume));
    if (present?.restoring !== snapshot) return { outcome: 'done' };
    try {
      await this.#snapshots.using(snapshot, () =>
        this.#snapshots.using(safety, () => this.#tools.engine.revertVolume(snapshot, safety)),
      );
    } catch (error) {
      if (isEngineError(error, 'interrupted'))
        return { outcome: 'retry', afterMs: RETRY_MS, reason: 'The controllers change.' };
      if (!(error instanceof EngineError)) throw error;
      const reason = error.message;
      return { outcome: 'failed', reason, finish: (tx) => this.#giveUp(tx, args, reason) };
    }
    return { outcome: 'done', finish: (tx) => this.#finish(tx, args) };
  }

  #finish(tx: Tx, args: Arguments): void {
    const now = this.#tools.clock.now();
    updateVolume(tx, args.volume, { restoring: null, restoredAt: now, modifiedAt: now });
    this.#dependents.restored(tx, args.volume);
    this.#recordEvent(tx, args, 'notice', 'was restored to');
  }

  #giveUp(tx: Tx, args: Arguments, reason: string): void {
    if (!findVolume(tx, args.volume)) return;
    updateVolume(tx, args.volume, { restoring: null });
    this.#recordEvent(tx, args, 'warning', `could not be restored (${reason}) to`);
  }

  #recordEvent(tx: Tx, { volume, snapshot, safety, actor }: Arguments, severity: 'notice' | 'warning', what: string) {
    const present = findVolume(tx, volume);
    if (!present) return;
    const titleOfSnapshot = (name: string) => calledIn(findSnapshotOfVolume(tx, volume, name), name);
    const title = `${titleOf(present)} ${what} snapshot ${titleOfSnapshot(snapshot)}; what it held before is in snapshot ${titleOfSnapshot(safety)}.`;
    this.#tools.events.record(tx, { severity, title, subject: `volume:${volume}`, actor });
  }
}

function calledIn(snapshot: Pick<SnapshotInPlace, 'displayName'> | undefined, name: string): string {
  return snapshot ? `${snapshot.displayName} (${name})` : name;
}

function safetyName(target: string): string {
  return `Before restore of ${target}`.slice(0, NAME_MAX - ' (100)'.length);
}
