import { randomUUID } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { allocate, release } from '../kernels/index.ts';
import { stackOf } from '../volume/layers.ts';
import type { Volume } from '../volume/volume.ts';
import type { Pool } from './pool.ts';

export interface MigrationProgress {
  readonly copiedBytes: number;
  /** As much as it can become: what was discarded since is not copied. */
  readonly totalBytes: number;
  /** The snapshot that is being copied; none once it is the volume's own data. */
  readonly snapshot: string | undefined;
}

export interface MigrationOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Without them, they are gone afterwards. With them unless told. */
  readonly withSnapshots?: boolean | undefined;
  /** Waited for before each piece: whoever wants a pause takes one here. */
  readonly turn?: (() => Promise<void> | undefined) | undefined;
  /** Writes are held back, and the next one goes to the other volume. */
  readonly onHandOver?: ((target: Volume) => void) | undefined;
}

/** Names of the moments a move copies up to; nobody else's begin so. */
const MARK = 'migration-';
const COPY_BYTES = 1024 * 1024;
/** How many times what was written meanwhile is copied before writes are held back for the rest. */
const ROUNDS_MAX = 6;
const REST_BYTES = 8 * 1024 * 1024;

/**
 * Moves a volume with its snapshots to another pool while it is read and written; nothing else about it may change
 * meanwhile. Whoever holds the old volume goes on through it. Cancelled or failed, the volume stays where it was and
 * nothing is left on the other side. Where it belongs is on disk at every moment (`state` of the two volumes), so that
 * `settleMigrations` can end what a crash cut off.
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
 * Ends moves that a crash cut off: the copy that is not whole goes, and so does the original of one that is. Where some
 * pools could not be opened, an original whose copy may be in one of them stays out of use: the copy is newer.
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
      // Without the copy it is all there is.
      if (isElsewhere) await from.deleteVolume(id);
      else if (areAll) await from.volumes.setState(id, undefined);
    }
  }
}

class Migration {
  /** Until the volume is there for good. */
  target: Volume | undefined;
  readonly #from: Pool;
  readonly #to: Pool;
  readonly #source: Volume;
  readonly #options: MigrationOptions;
  readonly #marks: string[] = [];
  readonly #totalBytes: number;
  #copiedBytes = 0;
  #snapshot: string | undefined;
  #isMoved = false;
  /** On the other side, too, it is on disk that it belongs there. */
  #isCommitted = false;
  #holdsWrites = false;

  constructor(from: Pool, to: Pool, source: Volume, options: MigrationOptions) {
    this.#from = from;
    this.#to = to;
    this.#source = source;
    this.#options = options;
    const tops = [source.layer, ...from.snapshots.list(source.id).map(({ layer }) => layer)];
    const layers = new Set(tops.flatMap((top) => stackOf(top)));
    const entries = [...layers].reduce((sum, layer) => sum + layer.map.owned, 0);
    this.#totalBytes = entries * source.format.entryBytes;
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
      // From here on the target is the volume, whatever happens.
      await this.#from.volumes.setState(id, 'moved');
      this.target = undefined;
      this.#isMoved = true;
      target.adoptCapsOf(this.#source);
      this.#options.onHandOver?.(target);
      this.#source.handOver(target);
    });
    await this.#commitMove(id);
    this.#publish({ copiedBytes: this.#totalBytes, totalBytes: this.#totalBytes, snapshot: undefined });
    return target;
  }

  /** The volume is moved, whether this can be written now or the next open has to do it. */
  async #commitMove(id: string): Promise<void> {
    try {
      await this.#to.volumes.setState(id, undefined);
      this.#isCommitted = true;
    } catch {
      // The source stays, as moved: it is what tells the next open that the copy is whole.
    }
  }

  /** What is left behind on the source. If this fails, the volume is moved all the same, and the next open tidies. */
  async cleanUp(): Promise<void> {
    try {
      for (const mark of this.#marks) await this.#from.snapshots.unmark(mark);
      if (this.#isCommitted) await this.#from.deleteVolume(this.#source.id);
    } catch (error) {
      if (!this.#isMoved) throw error;
    }
  }

  /** The volume's own snapshots, oldest first, each as one of the target. Returns the newest. */
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
    return id;
  }

  /** Brings the target from one snapshot to the next; returns how much that took. */
  async #copy(target: Volume, fromId: string | undefined, toId: string): Promise<number> {
    const device = this.#from.snapshots.open(toId);
    let copied = 0;
    for (const { offset, length, mapped } of this.#from.snapshots.difference(fromId, toId)) {
      const end = Math.min(offset + length, device.sizeBytes);
      for (let at = offset; at < end; at += COPY_BYTES) {
        // Nobody takes a pause while servers wait.
        if (!this.#holdsWrites) await this.#options.turn?.();
        if (this.#options.signal?.aborted === true) throw new StorageError('cancelled', 'The migration was cancelled.');
        const bytes = Math.min(COPY_BYTES, end - at);
        if (mapped) await copyBytes(device, target, at, bytes);
        else await target.clear(at, bytes);
        copied += bytes;
        this.#report(bytes);
      }
    }
    return copied;
  }

  #report(bytes: number): void {
    this.#copiedBytes += bytes;
    // What was written meanwhile is copied on top.
    const totalBytes = Math.max(this.#totalBytes, this.#copiedBytes);
    this.#publish({ copiedBytes: this.#copiedBytes, totalBytes, snapshot: this.#snapshot });
  }

  #publish(progress: MigrationProgress): void {
    this.#options.onProgress?.(progress);
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
