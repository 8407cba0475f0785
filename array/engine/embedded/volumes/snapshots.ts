import { setImmediate } from 'node:timers/promises';
import { type BlockDevice, type Snapshot, StorageError } from '@granary/storage';
import type { ChangedRange, NewSnapshot, SnapshotSizes } from '../../engine.ts';
import type { EnginePool, EnginePools } from '../pools.ts';
import type { FileShares } from '../setup.ts';
import { SnapshotHandle } from './snapshot-handle.ts';
import type { VolumeHandle } from './volume-handle.ts';
import type { EngineVolumes } from './volumes.ts';

const READ_BYTES_MAX = 16 * 1024 * 1024;
const RANGES_MAX = 100_000;
/** Walking through maps is not interrupted for longer. */
const WALK_MS_MAX = 5;

interface Found {
  readonly pool: EnginePool;
  readonly snapshot: Snapshot;
}

/** Snapshots of volumes, in whichever pool their volume is. */
export class EngineSnapshots {
  readonly #pools: EnginePools;
  readonly #volumes: EngineVolumes;
  readonly #shares: () => FileShares | undefined;
  /** Removed from the metadata in memory, perhaps not on disk: they are deleted when that is. */
  readonly #unsure = new Map<string, EnginePool>();

  constructor(pools: EnginePools, volumes: EngineVolumes, shares: () => FileShares | undefined) {
    this.#pools = pools;
    this.#volumes = volumes;
    this.#shares = shares;
  }

  async take(wanted: readonly NewSnapshot[], takenAt: number): Promise<SnapshotSizes> {
    await this.#takeMissing(wanted, takenAt);
    return wanted.map(({ snapshot }) => this.#get(snapshot).snapshot.sizeBytes);
  }

  async #takeMissing(wanted: readonly NewSnapshot[], takenAt: number): Promise<void> {
    const missing = wanted.filter(({ snapshot, volume }) => this.#find(snapshot)?.snapshot.volumeId !== volume);
    const handles = [...new Set(missing.map(({ volume }) => this.#volumes.get(volume)))];
    // Writes that are held back were preceded by this.
    await this.#shares()?.flushShares(handles.filter(({ isHeld }) => !isHeld).map(({ id }) => id));
    const byPool = Map.groupBy(missing, ({ volume }) => this.#volumes.get(volume).pool);
    if (byPool.size <= 1) return this.#takeIn(byPool, takenAt);
    await heldBack(handles, () => this.#takeIn(byPool, takenAt));
  }

  /** All of them, or none. */
  async #takeIn(byPool: ReadonlyMap<EnginePool, readonly NewSnapshot[]>, takenAt: number): Promise<void> {
    const taken: string[] = [];
    try {
      for (const [{ open: pool }, wanted] of byPool) {
        const named = wanted.map(({ volume, snapshot }) => ({ volumeId: volume, id: snapshot }));
        await pool.snapshots.take(named, new Date(takenAt));
        taken.push(...named.map(({ id }) => id));
      }
    } catch (error) {
      for (const id of taken) await this.delete(id).catch(() => undefined);
      throw error;
    }
  }

  async delete(id: string): Promise<void> {
    const pool = this.#find(id)?.pool ?? this.#unsure.get(id);
    if (!pool) return;
    this.#pools.requireRecording(pool);
    await this.#shares()?.removeSnapshot(id);
    this.#unsure.set(id, pool);
    try {
      if (pool.open.snapshots.find(id)) await pool.open.snapshots.delete(id);
      else await pool.open.flushDeletion();
      this.#unsure.delete(id);
    } catch (error) {
      // Refused, and not deleted.
      if (pool.pool?.snapshots.find(id)) this.#unsure.delete(id);
      throw error;
    }
  }

  async clone(id: string, volume: string): Promise<void> {
    if (this.#volumes.find(volume)) return;
    await this.#volumes.clone(this.#get(id).pool, id, volume);
  }

  async revert(id: string, unlessSince?: string): Promise<void> {
    const revert = () => this.#get(id).pool.open.snapshots.revert(id, unlessSince);
    const shares = this.#shares();
    if (shares) await shares.whileReplaced(this.#get(id).snapshot.volumeId, revert);
    else await revert();
  }

  device(id: string): BlockDevice | undefined {
    const found = this.#find(id);
    return found && new SnapshotHandle(found.snapshot, () => this.#get(id).pool.open);
  }

  /** Ranges that begin at the offset or after it; a range across it begins there. */
  async changes(from: string | undefined, to: string, afterOffset: number, limit: number): Promise<ChangedRange[]> {
    const ranges: ChangedRange[] = [];
    const most = Math.min(limit, RANGES_MAX);
    let start = afterOffset;
    for (let isDone = false; !isDone;) {
      ({ start, isDone } = this.#walk(from, to, start, most, ranges));
      // Maps may be rearranged meanwhile, so the walk resumes by offset.
      if (!isDone) await setImmediate();
    }
    return ranges;
  }

  async read(id: string, offset: number, length: number): Promise<Uint8Array> {
    if (length > READ_BYTES_MAX) throw new StorageError('invalid', `At most ${READ_BYTES_MAX} bytes are read at once.`);
    const { pool } = this.#get(id);
    const bytes = Buffer.alloc(length);
    await pool.open.snapshots.open(id).read(offset, bytes);
    return bytes;
  }

  #walk(from: string | undefined, to: string, start: number, limit: number, into: ChangedRange[]) {
    const { pool, snapshot } = this.#get(to);
    if (from !== undefined) this.#get(from);
    const untilMs = performance.now() + WALK_MS_MAX;
    let end = start;
    for (const { offset, length, mapped } of pool.open.snapshots.difference(from, to, start)) {
      if (offset >= snapshot.sizeBytes) break;
      end = Math.min(offset + length, snapshot.sizeBytes);
      into.push({ offset, length: end - offset, mapped });
      if (into.length >= limit) break;
      if (performance.now() > untilMs) return { start: end, isDone: false };
    }
    return { start: end, isDone: true };
  }

  #get(id: string): Found {
    const found = this.#find(id);
    if (found) return found;
    throw new StorageError('not-found', `There is no snapshot ${id}.`);
  }

  /** In the pool its volume is in: while that moves, the other pool has copies of the same names. */
  #find(id: string): Found | undefined {
    for (const pool of this.#pools.all()) {
      const snapshot = pool.pool?.snapshots.find(id);
      if (snapshot && this.#volumes.find(snapshot.volumeId)?.pool === pool) return { pool, snapshot };
    }
    return undefined;
  }
}

/** While no write to any of them is answered. */
async function heldBack(handles: readonly VolumeHandle[], work: () => Promise<void>): Promise<void> {
  const gates = handles.map(({ volume }) => volume.gate);
  await Promise.all(gates.map((gate) => gate.close()));
  try {
    await work();
  } finally {
    for (const gate of gates) gate.open();
  }
}
