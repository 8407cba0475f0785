import { randomUUID } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { allocate, release } from '../kernels/index.ts';
import { stackOf } from '../volume/layers.ts';
import type { Volume } from '../volume/volume.ts';
import type { Pool } from './pool.ts';

export interface MigrationProgress {
  readonly copiedBytes: number;
  /** An upper bound: discarded ranges are not copied. */
  readonly totalBytes: number;
  /** The snapshot being copied; undefined for the volume's current data. */
  readonly snapshot: string | undefined;
  /** When the newest of the move's own snapshots of the volume was taken; undefined before the first. */
  readonly workingSnapshotAt: Date | undefined;
}

export interface MigrationOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Without them, the snapshots are deleted by the move. Default: true. */
  readonly withSnapshots?: boolean | undefined;
  /** Awaited before each piece, so that the caller can pause the copy. */
  readonly turn?: (() => Promise<void> | undefined) | undefined;
  /** Called while writes are held; the next write goes to the target volume. */
  readonly onHandOver?: ((target: Volume) => void) | undefined;
}

/** The prefix of the snapshots that a move copies up to; no other snapshot has it. */
const MARK = 'migration-';
const COPY_BYTES = 1024 * 1024;
/** Rounds that copy concurrent writes before writes are held for the rest. */
const ROUNDS_MAX = 6;
const REST_BYTES = 8 * 1024 * 1024;

/**
 * Moves a volume with its snapshots to another pool while it is read and written; nothing else about it may change
 * meanwhile. Callers that hold the source volume are redirected to the target. After a cancellation or an error, the
 * volume stays where it was and the copy is removed. The owner of the volume is on disk at every step (`state` of the
 * two volumes), so that `reconcileMigrations` can complete or undo a move that a crash interrupted.
 */
export async function migrateVolume(from: Pool, to: Pool, id: string, options: MigrationOptions = {}): Promise<Volume> {
  const source = from.volumes.requireStable(id);
  if (source.isLocked) throw new StorageError('locked', `Volume ${id} is encrypted; unlock it before it is moved.`);
  source.isMoving = true;
  const migration = new Migration(from, to, source, options);
  try {
    return await migration.run();
  } catch (error) {
    if (migration.target) await to.deleteVolume(id);
    throw error;
  } finally {
    source.isMoving = false;
    await migration.cleanUp();
  }
}

/**
 * Completes or undoes moves that a crash interrupted: an incomplete copy is deleted, and so is the source of a complete
 * one. Where some pools could not be opened, a source whose copy may be in one of them stays out of use: the copy is
 * newer.
 */
export async function reconcileMigrations(pools: readonly Pool[], areAll = true): Promise<void> {
  for (const to of pools) {
    for (const { id } of to.volumes.list().filter((volume) => to.volumes.stateOf(volume.id) === 'incoming')) {
      const from = pools.find((pool) => pool !== to && pool.volumes.list().some((volume) => volume.id === id));
      if (!from) continue;
      if (from.volumes.stateOf(id) === 'moved') await to.volumes.setState(id, undefined);
      else await to.deleteVolume(id);
    }
  }
  for (const from of pools) {
    for (const { id } of [...from.snapshots.all()]) {
      if (id.startsWith(MARK)) await from.snapshots.unmark(id);
    }
    for (const { id } of from.volumes.list().filter((volume) => from.volumes.stateOf(volume.id) === 'moved')) {
      const isElsewhere = pools.some((pool) => pool !== from && pool.volumes.list().some((volume) => volume.id === id));
      // Without the copy, the source is the only version.
      if (isElsewhere) await from.deleteVolume(id);
      else if (areAll) await from.volumes.setState(id, undefined);
    }
  }
}

class Migration {
  /** Until the move is committed. */
  target: Volume | undefined;
  readonly #from: Pool;
  readonly #to: Pool;
  readonly #source: Volume;
  readonly #options: MigrationOptions;
  readonly #marks: string[] = [];
  readonly #totalBytes: number;
  #copiedBytes = 0;
  #snapshot: string | undefined;
  #workingSnapshotAt: Date | undefined;
  #isMoved = false;
  /** The target pool has recorded durably that the volume belongs to it. */
  #isCommitted = false;
  #holdsWrites = false;

  constructor(from: Pool, to: Pool, source: Volume, options: MigrationOptions) {
    this.#from = from;
    this.#to = to;
    this.#source = source;
    this.#options = options;
    const tops = [source.layer, ...from.snapshots.list(source.id).map(({ layer }) => layer)];
    const layers = new Set(tops.flatMap((top) => stackOf(top)));
    const { formats } = from.state;
    this.#totalBytes = [...layers].reduce((sum, { format, map }) => sum + map.owned * formats[format].entryBytes, 0);
  }

  async run(): Promise<Volume> {
    const { id } = this.#source;
    const target = await this.#to.volumes.createIncoming(this.#source, this.#from.volumes.keyCheckOf(id));
    this.target = target;
    let last = this.#options.withSnapshots === false ? undefined : await this.#copySnapshots(target);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const mark = await this.#mark();
      const copied = await this.#copy(target, last, mark);
      last = mark;
      if (copied <= REST_BYTES) break;
    }
    await this.#source.gate.closedWhile(async () => {
      this.#holdsWrites = true;
      await this.#copy(target, last, await this.#mark());
      await this.#to.flush();
      // The point of no return: from here on the target is the volume.
      await this.#from.volumes.setState(id, 'moved');
      this.target = undefined;
      this.#isMoved = true;
      target.adoptCapsOf(this.#source);
      this.#options.onHandOver?.(target);
      this.#source.handOver(target);
    });
    await this.#commitMove(id);
    this.#copiedBytes = Math.max(this.#totalBytes, this.#copiedBytes);
    this.#publish();
    return target;
  }

  /** The volume is moved, whether this can be written now or at the next open. */
  async #commitMove(id: string): Promise<void> {
    try {
      await this.#to.volumes.setState(id, undefined);
      this.#isCommitted = true;
    } catch {
      // The source stays, in state `moved`: it tells the next open that the copy is complete.
    }
  }

  /**
   * Removes what is left on the source. If this fails, the volume is moved all the same, and the next open cleans up.
   */
  async cleanUp(): Promise<void> {
    try {
      for (const mark of this.#marks) await this.#from.snapshots.unmark(mark);
      if (this.#isCommitted) await this.#from.deleteVolume(this.#source.id);
    } catch (error) {
      if (!this.#isMoved) throw error;
    }
  }

  /** Copies the volume's snapshots, oldest first, each as a snapshot of the target. Returns the newest. */
  async #copySnapshots(target: Volume): Promise<string | undefined> {
    let last: string | undefined;
    for (const { id, takenAt, sizeBytes } of this.#from.snapshots.list(this.#source.id)) {
      this.#snapshot = id;
      await this.#copy(target, last, id);
      await this.#to.snapshots.take([{ volumeId: target.id, id, sizeBytes }], takenAt);
      last = id;
    }
    this.#snapshot = undefined;
    return last;
  }

  async #mark(): Promise<string> {
    const id = `${MARK}${randomUUID()}`;
    await this.#from.snapshots.mark(this.#source, id);
    this.#marks.push(id);
    this.#workingSnapshotAt = this.#from.snapshots.get(id).takenAt;
    this.#publish();
    return id;
  }

  /** Copies the difference between two snapshots; returns the number of bytes. */
  async #copy(target: Volume, fromId: string | undefined, toId: string): Promise<number> {
    const device = this.#from.snapshots.open(toId);
    let copied = 0;
    for (const { offset, length, mapped } of this.#from.snapshots.difference(fromId, toId)) {
      const end = Math.min(offset + length, device.sizeBytes);
      for (let at = offset; at < end; at += COPY_BYTES) {
        // No pause while writes are held.
        if (!this.#holdsWrites) await this.#options.turn?.();
        if (this.#options.signal?.aborted === true) throw new StorageError('cancelled', 'The migration was cancelled.');
        const bytes = Math.min(COPY_BYTES, end - at);
        if (mapped) await copyBytes(device, target, at, bytes);
        else await target.clear(at, bytes);
        copied += bytes;
        this.#copiedBytes += bytes;
        this.#publish();
      }
    }
    return copied;
  }

  #publish(): void {
    this.#options.onProgress?.({
      copiedBytes: this.#copiedBytes,
      // Concurrent writes are copied on top.
      totalBytes: Math.max(this.#totalBytes, this.#copiedBytes),
      snapshot: this.#snapshot,
      workingSnapshotAt: this.#workingSnapshotAt,
    });
  }
}

async function copyBytes(from: BlockDevice, to: Volume, offset: number, length: number): Promise<void> {
  const buffer = allocate(length);
  try {
    await from.read(offset, buffer);
    await to.fill(offset, buffer);
  } finally {
    release(buffer);
  }
}
