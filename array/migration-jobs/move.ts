import type { Engine, MoveProgress } from '../engine/engine.ts';
import { isEngineError } from '../engine/errors.ts';
import type { Migration } from './migration.ts';

export type MoveEnd =
  | { readonly outcome: 'moved' }
  | { readonly outcome: 'stopped' }
  /** Its controller ended, or the volume is locked; the move starts again. */
  | { readonly outcome: 'interrupted'; readonly reason: string }
  | { readonly outcome: 'failed'; readonly reason: string };

interface Sample {
  readonly atMs: number;
  readonly copiedBytes: number;
}

const RATE_OVER_MS = 5_000;

/** One volume on its way, as long as this process and its controller live. */
export class VolumeMove {
  readonly ended: Promise<MoveEnd>;
  readonly #engine: Engine;
  readonly #migration: Migration;
  readonly #abort = new AbortController();
  readonly #samples: Sample[] = [];
  #progress: MoveProgress | undefined;
  /** How much was copied before the present snapshot. */
  #before = 0;
  #paused = Promise.withResolvers<undefined>();
  /** While it is paused. */
  #resumed: PromiseWithResolvers<void> | undefined;
  #isMoving = false;

  constructor(engine: Engine, migration: Migration) {
    this.#engine = engine;
    this.#migration = migration;
    this.ended = this.#run();
  }

  get progress(): MoveProgress | undefined {
    return this.#progress;
  }

  /** Null while the engine has none. */
  get workingSnapshotAt(): number | null {
    return this.#progress?.workingSnapshotAt ?? null;
  }

  /** Of the snapshot under way. */
  get positionBytes(): number {
    return (this.#progress?.copiedBytes ?? 0) - this.#before;
  }

  /** Over the last seconds. */
  bytesPerSecond(nowMs: number): number {
    this.#dropSamplesBefore(nowMs - RATE_OVER_MS);
    const [first] = this.#samples;
    const last = this.#progress?.copiedBytes ?? 0;
    if (!first || nowMs <= first.atMs) return 0;
    return ((last - first.copiedBytes) * 1000) / (nowMs - first.atMs);
  }

  /** Resolves when it is paused next. */
  whenPaused(): Promise<undefined> {
    return this.#paused.promise;
  }

  async pause(): Promise<void> {
    this.#resumed ??= Promise.withResolvers();
    if (this.#isMoving) await unlessEnded(this.#engine.pauseMove(this.#migration.volume));
    this.#paused.resolve(undefined);
  }

  /** From here on `whenPaused` waits for the next time. */
  prepareToResume(): void {
    this.#paused = Promise.withResolvers();
    this.#samples.length = 0;
  }

  async resume(): Promise<void> {
    this.#resumed?.resolve();
    this.#resumed = undefined;
    if (this.#isMoving) await unlessEnded(this.#engine.resumeMove(this.#migration.volume));
  }

  stop(): void {
    this.#abort.abort();
    this.#resumed?.resolve();
  }

  async #run(): Promise<MoveEnd> {
    try {
      await this.#move();
      return { outcome: 'moved' };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (isEngineError(error, 'cancelled') || this.#abort.signal.aborted) return { outcome: 'stopped' };
      return { outcome: isEngineError(error, 'interrupted', 'locked') ? 'interrupted' : 'failed', reason };
    }
  }

  async #move(): Promise<void> {
    const { volume, destinationPool, withSnapshots } = this.#migration;
    const { signal } = this.#abort;
    // A crash may have come after its end and before it was on record.
    const { pool } = await this.#engine.volume(volume);
    if (pool === destinationPool) return;
    await this.#resumed?.promise;
    signal.throwIfAborted();
    const onProgress = (progress: MoveProgress) => this.#recordProgress(progress);
    const moving = this.#engine.moveVolume(volume, destinationPool, withSnapshots, { signal, onProgress });
    this.#isMoving = true;
    await moving;
  }

  #recordProgress(progress: MoveProgress): void {
    const nowMs = Date.now();
    if (progress.snapshot !== this.#progress?.snapshot) this.#before = this.#progress?.copiedBytes ?? 0;
    this.#samples.push({ atMs: nowMs, copiedBytes: this.#progress?.copiedBytes ?? 0 });
    this.#dropSamplesBefore(nowMs - RATE_OVER_MS);
    this.#progress = progress;
  }

  #dropSamplesBefore(timeMs: number): void {
    const kept = this.#samples.findIndex(({ atMs }) => atMs >= timeMs);
    this.#samples.splice(0, kept === -1 ? this.#samples.length : kept);
  }
}

/** A move that has ended, or whose controller is gone, cannot be paused and need not be: its end is reported by `ended`. */
async function unlessEnded(asked: Promise<void>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isEngineError(error, 'conflict', 'interrupted')) throw error;
  }
}
