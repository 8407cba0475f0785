import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import { isEngineError, isRefusal } from '../engine/errors.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import { changeState, findSnapshot, findUnfinished, removeSnapshot } from './repository.ts';
import type { Snapshot } from './snapshot.ts';

interface Leftover {
  readonly names: readonly string[];
}

const KIND = 'delete-snapshots';
const AT_ONCE = 16;
const RETRY_SOON_MS = 1_000;
const RETRY_MS = 15_000;

/**
 * Deleting is on record first, then in the engine, then the record goes. What the engine cannot do just now is left to
 * a job: the snapshot is not listed any more, and its space is freed later.
 */
export class SnapshotDeletion {
  readonly #tools: ArrayTools;
  readonly #shares: ShareService;
  readonly #held = new Map<string, Set<Promise<unknown>>>();

  constructor(tools: ArrayTools, shares: ShareService) {
    this.#tools = tools;
    this.#shares = shares;
    tools.jobs.register<Leftover>(KIND, (job) => this.#run(job), undefined, { frees: true });
  }

  /** Snapshots in use by another operation. */
  get held(): ReadonlyMap<string, unknown> {
    return this.#held;
  }

  async holding<T>(name: string, work: () => Promise<T>): Promise<T> {
    const holders = this.#held.get(name) ?? new Set();
    this.#held.set(name, holders);
    const done = work();
    holders.add(done);
    try {
      return await done;
    } finally {
      holders.delete(done);
      if (holders.size === 0) this.#held.delete(name);
    }
  }

  async delete(names: readonly string[], actor: string): Promise<void> {
    const snapshots = await this.#tools.store.write((tx) =>
      names.flatMap((name) => {
        const snapshot = findSnapshot(tx, name);
        return snapshot && changeState(tx, name, 'ready', 'deleting') ? [snapshot] : [];
      }),
    );
    for (const { name } of snapshots) await Promise.allSettled([...(this.#held.get(name) ?? [])]);
    // Users of a share must not read what is about to go.
    const volumes = snapshots.map(({ volume }) => volume);
    await this.#shares.followSnapshots(volumes);
    try {
      await this.finish(snapshots, actor);
    } catch (error) {
      // Those the engine refused to delete are there again.
      await this.#shares.followSnapshots(volumes);
      throw error;
    }
  }

  /** Removes hidden snapshots from the engine and from the records. With an actor, an event is recorded. */
  async finish(snapshots: readonly Snapshot[], actor: string | undefined): Promise<void> {
    const refusals: unknown[] = [];
    for (let at = 0; at < snapshots.length; at += AT_ONCE) {
      const part = snapshots.slice(at, at + AT_ONCE);
      const results = await Promise.allSettled(part.map(({ name }) => this.#tools.engine.deleteSnapshot(name)));
      await this.#record(part, results, actor);
      refusals.push(...results.filter(isRefused).map(({ reason }) => reason as unknown));
    }
    // One that is to be undone has no caller who could try again: the job does.
    if (actor !== undefined && refusals.length > 0) throw refusals[0];
  }

  async reconcile(): Promise<void> {
    const { store } = this.#tools;
    if (store.read(findUnfinished).length === 0) return;
    await store.write((tx) => {
      const unfinished = findUnfinished(tx);
      for (const { name } of unfinished) changeState(tx, name, 'creating', 'deleting');
      this.#leave(
        tx,
        unfinished.map(({ name }) => name),
      );
    });
  }

  #record(
    snapshots: readonly Snapshot[],
    results: readonly PromiseSettledResult<void>[],
    actor: string | undefined,
  ): Promise<void> {
    return this.#tools.store.write((tx) => {
      const left: string[] = [];
      for (const [index, snapshot] of snapshots.entries()) {
        const result = results[index];
        if (result?.status === 'fulfilled') this.#remove(tx, snapshot, actor);
        else if (result && isRefused(result) && actor !== undefined)
          changeState(tx, snapshot.name, 'deleting', 'ready');
        else left.push(snapshot.name);
      }
      for (const name of left) changeState(tx, name, 'creating', 'deleting');
      if (left.length > 0) this.#leave(tx, left);
    });
  }

  #remove(tx: Tx, snapshot: Snapshot, actor: string | undefined): void {
    if (!removeSnapshot(tx, snapshot.name) || actor === undefined) return;
    const title = `Snapshot ${snapshot.displayName} (${snapshot.name}) of volume ${snapshot.volume} was deleted.`;
    this.#tools.events.record(tx, { title, subject: `volume:${snapshot.volume}`, actor });
  }

  #leave(tx: Tx, names: readonly string[]): void {
    this.#tools.jobs.enqueue(tx, KIND, `snapshots:${names[0] ?? ''}`, { names } satisfies Leftover);
  }

  /** One that cannot be deleted yet does not keep the others. */
  async #run({ arguments: { names }, signal }: RunningJob<Leftover>): Promise<JobOutcome> {
    const { engine, store } = this.#tools;
    let failure: unknown;
    for (const name of names) {
      if (signal.aborted) return { outcome: 'retry', afterMs: 0, reason: 'the array stops' };
      try {
        await engine.deleteSnapshot(name);
        await store.write((tx) => removeSnapshot(tx, name));
      } catch (error) {
        failure = error;
      }
    }
    if (failure === undefined) return { outcome: 'done' };
    const afterMs = isEngineError(failure, 'interrupted') ? RETRY_SOON_MS : RETRY_MS;
    return { outcome: 'retry', afterMs, reason: failure instanceof Error ? failure.message : 'failed' };
  }
}

/** Surely not deleted; after any other failure it may be. */
function isRefused(result: PromiseSettledResult<void>): result is PromiseRejectedResult {
  return result.status === 'rejected' && isRefusal(result.reason);
}
