import { formatSeconds, type Tx } from '@granary/kernel';
import { isEngineError } from '../engine/errors.ts';
import { findBeyond, findNewestOfRule } from '../snapshots/repository.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { SnapshotService, WantedSnapshot } from '../snapshots/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import type { VolumeService } from '../volumes/service.ts';
import { markRun } from './repository.ts';
import type { DueRule } from './scheduler.ts';

interface Run {
  readonly rule: DueRule;
  readonly volume: Volume;
}

interface Taken {
  readonly rule: DueRule;
  readonly snapshot: Snapshot;
}

const BATCH_MAX = 64;
const NAME_LENGTH_MAX = 100;

/** Takes the snapshots that rules ask for, and lets go of those they no longer keep. */
export class PolicyRuns {
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #snapshots: SnapshotService;
  /** Rules that failed last time: recorded once, until they work again. */
  readonly #failing = new Set<string>();

  constructor(tools: ArrayTools, volumes: VolumeService, snapshots: SnapshotService) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#snapshots = snapshots;
  }

  /** Many volumes of a pool at once; pools beside each other. */
  async run(due: readonly DueRule[], at: number): Promise<void> {
    const byPool = new Map<string, Run[]>();
    for (const rule of due) {
      const volume = this.#volumes.get(rule.volume);
      const runs = byPool.get(volume.pool) ?? [];
      byPool.set(volume.pool, runs);
      runs.push({ rule, volume });
    }
    const ends = await Promise.allSettled([...byPool.values()].map((runs) => this.#runPool(runs, at)));
    // All have ended by now: looked at again, none is taken for due that is just being taken.
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #runPool(runs: readonly Run[], at: number): Promise<void> {
    for (let from = 0; from < runs.length; from += BATCH_MAX)
      await this.#runBatch(runs.slice(from, from + BATCH_MAX), at);
  }

  /** All at once; where that fails, one by one, so that a volume that cannot be helped does not stop others. */
  async #runBatch(batch: readonly Run[], at: number): Promise<void> {
    let empty: readonly Snapshot[];
    try {
      empty = await this.#takeAll(batch, at);
    } catch (error) {
      // It is due all the same, and soon looked at again.
      if (isEngineError(error, 'interrupted')) throw error;
      const [only] = batch;
      if (batch.length === 1 && only) return this.#fail(only, error, at);
      for (const each of batch) await this.#runBatch([each], at);
      return;
    }
    await this.#snapshots.drop(empty);
    for (const { rule, volume } of batch) await this.#prune(rule, volume);
  }

  /** Returns those that are not worth keeping. */
  async #takeAll(batch: readonly Run[], at: number): Promise<Snapshot[]> {
    const snapshots = await this.#snapshots.begin(batch.map((each) => wantedOf(each, at)));
    try {
      const empty = await this.#emptyOf(
        batch.flatMap(({ rule }, index) => {
          const snapshot = snapshots[index];
          return snapshot ? [{ rule, snapshot }] : [];
        }),
      );
      const kept = snapshots.filter(({ name }) => !empty.has(name));
      await this.#snapshots.show(kept, 'system', (tx) => this.#mark(tx, batch, at));
      return snapshots.filter(({ name }) => empty.has(name));
    } catch (error) {
      await this.#snapshots.drop(snapshots);
      throw error;
    }
  }

  /** Snapshots that are not kept: nothing changed since the last one of the same rule. */
  async #emptyOf(taken: readonly Taken[]): Promise<ReadonlySet<string>> {
    const answers = await Promise.all(taken.map((each) => this.#isEmpty(each)));
    return new Set(taken.filter((_, index) => answers[index]).map(({ snapshot }) => snapshot.name));
  }

  async #isEmpty({ rule, snapshot }: Taken): Promise<boolean> {
    const { store, engine } = this.#tools;
    if (rule.of.createsEmpty) return false;
    const last = store.read((db) => findNewestOfRule(db, rule.name));
    if (!last || last.sizeBytes !== snapshot.sizeBytes) return false;
    return (await engine.changes(last.name, snapshot.name, 0, 1)).length === 0;
  }

  #mark(tx: Tx, batch: readonly Run[], at: number): void {
    markRun(
      tx,
      batch.map(({ rule }) => rule.name),
      at,
    );
    for (const { rule, volume } of batch) {
      if (!this.#failing.has(rule.name)) continue;
      const title = `Policy ${rule.of.displayName} (${rule.policy}) works again for volume ${volume.displayName} (${volume.name}).`;
      this.#tools.events.record(tx, { severity: 'notice', title, subject: `volume:${volume.name}` });
      tx.afterCommit(() => this.#failing.delete(rule.name));
    }
  }

  async #fail({ rule, volume }: Run, error: unknown, at: number): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    this.#tools.log.warn({ error, rule: rule.name, volume: volume.name }, 'a snapshot that was due was not taken');
    await this.#tools.store.write((tx) => {
      markRun(tx, [rule.name], at);
      if (this.#failing.has(rule.name)) return;
      const title = `Policy ${rule.of.displayName} (${rule.policy}) could not take a snapshot of volume ${volume.displayName} (${volume.name}): ${reason}`;
      this.#tools.events.record(tx, { severity: 'error', title, subject: `volume:${volume.name}` });
      tx.afterCommit(() => this.#failing.add(rule.name));
    });
  }

  async #prune(rule: DueRule, volume: Volume): Promise<void> {
    const { store, log } = this.#tools;
    const { keep } = rule.of;
    if (keep === null) return;
    const beyond = store.read((db) => findBeyond(db, rule.name, keep));
    if (beyond.length === 0) return;
    try {
      await this.#snapshots.deleteUnneeded(beyond, 'system');
    } catch (error) {
      log.warn({ error, rule: rule.name, volume: volume.name }, 'snapshots that are not kept could not be deleted');
    }
  }
}

function wantedOf({ rule, volume }: Run, at: number): WantedSnapshot {
  return {
    volume,
    displayName: `${rule.of.displayName.slice(0, NAME_LENGTH_MAX)} ${formatSeconds(at)}`,
    orSimilar: true,
    application: rule.application,
    mirrorJob: rule.mirrorJob ?? undefined,
    rule: rule.name,
    policy: rule.policy,
  };
}
