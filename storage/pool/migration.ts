import { randomUUID } from 'node:crypto';
import type { BlockDevice } from '../block-device.ts';
import { StorageError } from '../errors.ts';
import { allocate, release } from '../kernels/index.ts';
import type { Volume } from '../volume/volume.ts';
import type { Pool } from './pool.ts';

export interface MigrationOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

const COPY_BYTES = 1024 * 1024;
/** How many times what was written meanwhile is copied before writes are held back for the rest. */
const ROUNDS_MAX = 6;
const REST_BYTES = 8 * 1024 * 1024;

/**
 * Moves a volume with its snapshots to another pool while it is read and written. Whoever holds the old volume goes on
 * through it. Cancelled or failed, the volume stays where it was and nothing is left on the other side.
 */
export async function migrateVolume(from: Pool, to: Pool, id: string, options: MigrationOptions = {}): Promise<Volume> {
  const source = from.volumes.get(id);
  if (source.isLocked) throw new StorageError('locked', `Volume ${id} is encrypted; unlock it before it is moved.`);
  const target = await to.volumes.createLike(id, source, from.volumes.keyCheckOf(id));
  const migration = new Migration(from, to, source, target, options);
  try {
    await migration.run();
  } catch (error) {
    await to.deleteVolume(id);
    throw error;
  } finally {
    await migration.dropMarks();
  }
  await from.deleteVolume(id);
  return target;
}

class Migration {
  readonly #from: Pool;
  readonly #to: Pool;
  readonly #source: Volume;
  readonly #target: Volume;
  readonly #options: MigrationOptions;
  readonly #marks: string[] = [];
  readonly #totalBytes: number;
  #copiedBytes = 0;

  constructor(from: Pool, to: Pool, source: Volume, target: Volume, options: MigrationOptions) {
    this.#from = from;
    this.#to = to;
    this.#source = source;
    this.#target = target;
    this.#options = options;
    const { ownBytes, snapshotBytes } = from.volumeUsage(source.id);
    this.#totalBytes = Math.max(1, ownBytes + snapshotBytes);
  }

  async run(): Promise<void> {
    let last = await this.#copySnapshots();
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const mark = await this.#mark();
      const copied = await this.#copy(last, mark);
      last = mark;
      if (copied <= REST_BYTES) break;
    }
    await this.#source.gate.closedWhile(async () => {
      await this.#copy(last, await this.#mark());
      await this.#to.flush();
      this.#source.handOver(this.#target);
    });
  }

  /** Snapshots that only the migration looked at. */
  async dropMarks(): Promise<void> {
    for (const mark of this.#marks) await this.#from.snapshots.delete(mark);
  }

  /** The volume's own snapshots, oldest first, each as one of the target. Returns the newest. */
  async #copySnapshots(): Promise<string | undefined> {
    let last: string | undefined;
    for (const { id, takenAt, sizeBytes } of this.#from.snapshots.list(this.#source.id)) {
      await this.#copy(last, id);
      await this.#to.snapshots.take([{ volumeId: this.#target.id, id, sizeBytes }], takenAt);
      last = id;
    }
    return last;
  }

  async #mark(): Promise<string> {
    const id = `migration-${randomUUID()}`;
    await this.#from.snapshots.take([{ volumeId: this.#source.id, id }], new Date());
    this.#marks.push(id);
    return id;
  }

  /** Brings the target from one snapshot to the next; returns how much that took. */
  async #copy(fromId: string | undefined, toId: string): Promise<number> {
    const device = this.#from.snapshots.open(toId);
    let copied = 0;
    for (const { offset, length, mapped } of this.#from.snapshots.difference(fromId, toId)) {
      const end = Math.min(offset + length, this.#target.sizeBytes);
      for (let at = offset; at < end; at += COPY_BYTES) {
        if (this.#options.signal?.aborted === true) throw new StorageError('cancelled', 'The migration was cancelled.');
        const bytes = Math.min(COPY_BYTES, end - at);
        if (mapped) await copyBytes(device, this.#target, at, bytes);
        else await this.#target.discard(at, bytes);
        copied += bytes;
        this.#report(bytes);
      }
    }
    return copied;
  }

  #report(bytes: number): void {
    this.#copiedBytes += bytes;
    this.#options.onProgress?.(Math.min(1, this.#copiedBytes / this.#totalBytes));
  }
}

async function copyBytes(from: BlockDevice, to: BlockDevice, offset: number, length: number): Promise<void> {
  const buffer = allocate(length);
  try {
    await from.read(offset, buffer);
    await to.write(offset, buffer);
  } finally {
    release(buffer);
  }
}
