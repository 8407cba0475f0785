import { bytes, capacityText, fail, type JobOutcome, type RunningJob, type Tx } from '@granary/kernel';
import type { MoveProgress } from '../engine/engine.ts';
import { isEngineError } from '../engine/errors.ts';
import type { Pool } from '../pools/pool.ts';
import type { PoolService } from '../pools/service.ts';
import { nextName } from '../sequences/repository.ts';
import { countSnapshots, findSnapshot, hasUnfinished } from '../snapshots/repository.ts';
import type { SnapshotInPlace } from '../snapshots/snapshot.ts';
import type { ArrayTools } from '../tools.ts';
import { updateVolume } from '../volumes/repository.ts';
import type { Volume, VolumeChange } from '../volumes/volume.ts';
import { checkNoDestination, checkReady, checkUnmoved, titleOf } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import { VolumeMove, type MoveEnd } from './move.ts';
import { changeMigration, findMigration, findMigrationOfGroup, insertMigration, listRunning } from './repository.ts';
import type { Migration } from './migration.ts';
import { viewOf, type ShownMigration } from './view.ts';

interface MigrationParts {
  readonly volumes: VolumeService;
  readonly pools: PoolService;
  /** How many volumes are moved at a time. */
  readonly atOnceMax: () => number;
}

interface Arguments {
  readonly migration: string;
}

const KIND = 'migrate-volume';
/** That run or wait for their turn. */
const RUNNING_MAX = 64;
const RETRY_MS = 1_000;

/**
 * Moves volumes between pools while servers use them. The engine's word is final: where it says that the volume is, it
 * is, and the record follows. The settings limit how many move at a time; the others wait in the order they were asked for. A move that a crash or a failover cut off starts again; a paused one waits for its owner.
 */
export class MigrationService {
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #pools: PoolService;
  readonly #atOnceMax: () => number;
  readonly #moves = new Map<string, VolumeMove>();
  /** Those whose turn it is. */
  readonly #moved = new Set<string>();
  /** Being aborted: no move of these may begin, until the record says how it ended. */
  readonly #aborting = new Set<string>();
  #isStopping = false;

  constructor(tools: ArrayTools, { volumes, pools, atOnceMax }: MigrationParts) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#pools = pools;
    this.#atOnceMax = atOnceMax;
    tools.jobs.register<Arguments>(
      KIND,
      (job) => this.#run(job),
      (tx, { migration }, reason) => this.#giveUp(tx, migration, reason),
    );
  }

  /** By the name of its group, before or after, or by its own; not found: `job_not_found`. */
  get(name: string): ShownMigration {
    const migration = this.#tools.store.read((db) => findMigrationOfGroup(db, name) ?? findMigration(db, name));
    if (!migration) throw fail('job_not_found', { id: name });
    return { migration, move: this.#moves.get(migration.name) };
  }

  show(name: string) {
    const { store, clock } = this.#tools;
    const shown = this.get(name);
    const shipping = shown.move?.progress?.snapshot ?? null;
    const snapshot = shipping === null ? undefined : store.read((db) => findSnapshot(db, shipping));
    return viewOf(shown, snapshot?.displayName ?? null, clock.now());
  }

  /** Those that moves under way have of their volumes, as the engine says. */
  workingSnapshots(): SnapshotInPlace[] {
    return [...this.#moves].flatMap(([name, { workingSnapshotAt }]) => {
      const migration = this.#tools.store.read((db) => findMigration(db, name));
      if (!migration || migration.workingSnapshot === null || workingSnapshotAt === null) return [];
      if (migration.status !== 'Running' && migration.status !== 'Paused') return [];
      const volume = this.#volumes.get(migration.volume);
      return [workingSnapshotOf(volume, migration.workingSnapshot, workingSnapshotAt)];
    });
  }

  async start(cgName: string, poolName: string, withSnapshots: boolean, actor: string) {
    const { readings, store } = this.#tools;
    const volume = this.#volumes.byGroup(cgName);
    const pool = this.#pools.get(poolName);
    refuseMove(volume, pool);
    this.#pools.refuseNew(pool);
    const { ownBytes, snapshotBytes, sharedBytes, isLocked } = await readings.freshVolume(volume.name);
    if (isLocked) throw fail('volume_locked');
    await this.#volumes.interruptScan(volume.name);
    const totalBytes = ownBytes + snapshotBytes + sharedBytes;
    this.#refuseFull(pool, totalBytes);
    return store.write((tx) => {
      const present = this.#volumes.get(volume.name);
      refuseMove(present, this.#pools.get(poolName));
      refuseSnapshots(tx, present, withSnapshots);
      refuseCrowd(tx);
      return this.#insert(tx, { volume: present, pool, withSnapshots, totalBytes }, actor);
    });
  }

  async pause(name: string, actor: string): Promise<string> {
    const { store, clock } = this.#tools;
    const { migration } = this.get(name);
    await store.write((tx) => {
      this.#refuseUnless(migration.name, 'Running');
      changeMigration(tx, migration.name, { status: 'Paused', now: clock.now() });
      this.#recordEvent(tx, migration, 'was paused', actor);
    });
    // Only now: it may have begun meanwhile.
    await this.#moves.get(migration.name)?.pause();
    return migration.sourceGroup;
  }

  async continue(name: string, actor: string): Promise<string> {
    const { store, clock, jobs } = this.#tools;
    const { migration, move } = this.get(name);
    this.#refuseUnless(migration.name, 'Paused');
    move?.prepareToResume();
    await store.write((tx) => {
      this.#refuseUnless(migration.name, 'Paused');
      refuseCrowd(tx);
      const job = jobs.enqueue(tx, KIND, `migration:${migration.volume}`, {
        migration: migration.name,
      } satisfies Arguments);
      changeMigration(tx, migration.name, { status: 'Running', job, now: clock.now() });
      this.#recordEvent(tx, migration, 'goes on', actor);
    });
    return migration.sourceGroup;
  }

  /** The volume stays where it was, unless it has arrived already. */
  async abort(name: string, actor: string): Promise<string> {
    const { migration } = this.get(name);
    this.#refuseUnless(migration.name, 'Running', 'Paused');
    this.#aborting.add(migration.name);
    try {
      await this.#abort(migration, actor);
    } finally {
      this.#aborting.delete(migration.name);
    }
    return migration.sourceGroup;
  }

  async #abort(migration: Migration, actor: string): Promise<void> {
    const move = this.#moves.get(migration.name);
    if (move) {
      move.stop();
      const { outcome } = await move.ended;
      if (outcome === 'moved') throw complete(migration);
    } else if (await this.#hasArrived(migration)) {
      // A crash or a failover came between its end and the record of it.
      await this.#complete(migration, undefined);
      throw complete(migration);
    }
    await this.#tools.store.write((tx) => {
      this.#refuseUnless(migration.name, 'Running', 'Paused');
      this.#leave(tx, migration, 'was aborted; the volume stays where it was', actor);
    });
  }

  /** Those that are paused have no job that would stop them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const moves = [...this.#moves.values()];
    for (const move of moves) move.stop();
    await Promise.all(moves.map(({ ended }) => ended));
  }

  async #run({ arguments: { migration }, signal }: RunningJob<Arguments>): Promise<JobOutcome> {
    const found = this.#tools.store.read((db) => findMigration(db, migration));
    if (found?.status !== 'Running') return { outcome: 'done' };
    if (this.#isStopping) return { outcome: 'retry', afterMs: RETRY_MS, reason: 'the array stops' };
    if (this.#aborting.has(migration)) return { outcome: 'retry', afterMs: RETRY_MS, reason: 'it is being aborted' };
    if (!this.#isItsTurn(migration)) return { outcome: 'retry', afterMs: RETRY_MS, reason: 'waits for its turn' };
    this.#moved.add(migration);
    try {
      return await this.#follow(found, signal);
    } finally {
      this.#moved.delete(migration);
    }
  }

  #isItsTurn(migration: string): boolean {
    const waiting = this.#tools.store.read(listRunning).filter((name) => !this.#moved.has(name));
    return this.#moved.size + waiting.indexOf(migration) < this.#atOnceMax();
  }

  /** Begins the move, or goes on with a paused one, and waits for its end or the next pause. */
  async #follow(migration: Migration, signal: AbortSignal): Promise<JobOutcome> {
    const paused = this.#moves.get(migration.name);
    const move = paused ?? this.#begin(migration);
    const stop = () => move.stop();
    signal.addEventListener('abort', stop);
    const ending = Promise.race([move.ended, move.whenPaused()]);
    await paused?.resume();
    const end = await ending;
    signal.removeEventListener('abort', stop);
    if (end?.outcome === 'moved') await this.#complete(migration, move.progress);
    if (end?.outcome === 'interrupted') return { outcome: 'retry', afterMs: RETRY_MS, reason: end.reason };
    if (end?.outcome === 'stopped') return { outcome: 'retry', afterMs: RETRY_MS, reason: 'stopped' };
    if (end?.outcome !== 'failed') return { outcome: 'done' };
    const { reason } = end;
    return { outcome: 'failed', reason, finish: (tx) => this.#giveUp(tx, migration.name, reason) };
  }

  #begin(migration: Migration): VolumeMove {
    const { engine, log } = this.#tools;
    const move = new VolumeMove(engine, migration);
    this.#moves.set(migration.name, move);
    // It may arrive, or end, while it is paused and no job looks at it.
    const followed = move.ended.then((end) => this.#ended(migration, move, end));
    followed.catch((error: unknown) =>
      log.error({ error, migration: migration.name }, 'the end of a move is not on record'),
    );
    return move;
  }

  async #ended(migration: Migration, move: VolumeMove, end: MoveEnd): Promise<void> {
    try {
      if (end.outcome === 'moved') await this.#complete(migration, move.progress);
    } finally {
      this.#moves.delete(migration.name);
    }
  }

  async #hasArrived({ volume, destinationPool }: Migration): Promise<boolean> {
    try {
      return (await this.#tools.engine.volume(volume)).pool === destinationPool;
    } catch (error) {
      if (isEngineError(error, 'not-found')) return false;
      throw error;
    }
  }

  /** Idempotent. */
  #complete(migration: Migration, progress: MoveProgress | undefined): Promise<void> {
    const { store, clock, readings } = this.#tools;
    return store.write((tx) => {
      const total = bytes(progress?.totalBytes ?? migration.totalBytes);
      const now = clock.now();
      const ended = { status: 'Completed', totalBytes: total, copiedBytes: total, now } as const;
      if (!changeMigration(tx, migration.name, ended)) return;
      const change: VolumeChange = {
        pool: migration.destinationPool,
        consistencyGroup: migration.destinationGroup,
        migration: null,
        modifiedAt: now,
      };
      updateVolume(tx, migration.volume, change);
      this.#recordEvent(
        tx,
        migration,
        `is complete; the volume is in pool ${migration.destinationPoolName} as ${migration.destinationGroup}`,
        'system',
      );
      tx.afterCommit(() => readings.removeVolume(migration.volume));
    });
  }

  #giveUp(tx: Tx, migration: string, reason: string): void {
    const found = findMigration(tx, migration);
    if (found) this.#leave(tx, found, `was given up, the volume stays where it was: ${reason}`, 'system');
  }

  #leave(tx: Tx, migration: Migration, what: string, actor: string): void {
    const now = this.#tools.clock.now();
    if (!changeMigration(tx, migration.name, { status: 'Aborted', now })) return;
    updateVolume(tx, migration.volume, { migration: null, modifiedAt: now });
    this.#recordEvent(tx, migration, what, actor);
  }

  #insert(
    tx: Tx,
    wanted: { volume: Volume; pool: Pool; withSnapshots: boolean; totalBytes: number },
    actor: string,
  ): string {
    const { jobs, clock } = this.#tools;
    const { volume, pool, withSnapshots, totalBytes } = wanted;
    const name = nextName(tx, 'mgrjob');
    const job = jobs.enqueue(tx, KIND, `migration:${volume.name}`, { migration: name } satisfies Arguments);
    const now = clock.now();
    const migration: Migration = {
      name,
      volume: volume.name,
      volumeName: volume.displayName,
      sourcePoolName: this.#pools.get(volume.pool).displayName,
      destinationPoolName: pool.displayName,
      sourceGroup: volume.consistencyGroup,
      destinationGroup: nextName(tx, 'cg'),
      sourcePool: volume.pool,
      destinationPool: pool.name,
      withSnapshots,
      status: 'Running',
      totalBytes: bytes(totalBytes),
      copiedBytes: bytes(0),
      workingSnapshot: nextName(tx, 'snap'),
      job,
      createdAt: now,
      modifiedAt: now,
    };
    insertMigration(tx, migration);
    updateVolume(tx, volume.name, { migration: name, modifiedAt: now });
    this.#recordEvent(tx, migration, `to pool ${pool.displayName} (${pool.name}) began`, actor);
    return name;
  }

  #refuseFull(pool: Pool, neededBytes: number): void {
    const report = this.#tools.readings.pool(pool.name);
    const freeBytes = report ? report.totalBytes - report.usedBytes : 0;
    if (neededBytes <= freeBytes) return;
    throw fail('migration_pool_full', {
      pool: pool.name,
      free: capacityText(freeBytes),
      needed: capacityText(neededBytes),
    });
  }

  #refuseUnless(name: string, ...wanted: Migration['status'][]): void {
    const status = this.#tools.store.read((db) => findMigration(db, name))?.status;
    if (status !== undefined && wanted.includes(status)) return;
    throw fail('migration_state', { name, state: status ?? 'gone', needed: wanted.join(' or ') });
  }

  #recordEvent(tx: Tx, migration: Migration, what: string, actor: string): void {
    const title = `Migration ${migration.name} of volume ${migration.volumeName} (${migration.volume}) ${what}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${migration.volume}`, actor });
  }
}

function workingSnapshotOf(volume: Volume, name: string, takenAt: number): SnapshotInPlace {
  return {
    name,
    displayName: `Migration of ${volume.displayName}`,
    volume: volume.name,
    volumeDisplayName: volume.displayName,
    consistencyGroup: volume.consistencyGroup,
    pool: volume.pool,
    sizeBytes: volume.sizeBytes,
    application: 'migration',
    rule: null,
    policy: null,
    mirrorJob: null,
    state: 'ready',
    createdAt: takenAt,
    modifiedAt: takenAt,
  };
}

function complete({ name }: Migration): Error {
  return fail('migration_complete', { name });
}

function refuseMove(volume: Volume, pool: Pool): void {
  checkReady(volume);
  checkUnmoved(volume);
  checkNoDestination(volume);
  if (volume.pool === pool.name) {
    throw fail('volume_in_pool', { volume: titleOf(volume), pool: pool.name });
  }
}

function refuseSnapshots(tx: Tx, volume: Volume, withSnapshots: boolean): void {
  if (hasUnfinished(tx, volume.name)) {
    throw fail('snapshot_in_progress', { volume: titleOf(volume) });
  }
  const count = countSnapshots(tx, volume.name);
  if (count === 0 || withSnapshots) return;
  throw fail('migrate_with_snapshots', { volume: titleOf(volume), count });
}

function refuseCrowd(tx: Tx): void {
  if (listRunning(tx).length < RUNNING_MAX) return;
  throw fail('migrations_limit', { max: RUNNING_MAX });
}
