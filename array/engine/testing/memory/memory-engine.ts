import { StorageError } from '@granary/storage';
import { translateErrors } from '../../embedded/refused.ts';
import { NO_IO } from '../../embedded/reports/totals.ts';
import type { BlockExports, FileShares } from '../../embedded/setup.ts';
import type * as wanted from '../../engine.ts';
import type { EngineCore } from '../../engine.ts';
import type { PoolReport, Report, VolumeReport } from '../../report.ts';
import type { ShareEngine } from '../../shares.ts';
import { CHUNK_BYTES, MemoryBytes } from './memory-bytes.ts';
import { type MemoryPool, MemoryVolume } from './memory-volume.ts';

/** Pools, volumes and snapshots in memory: no drives, no controllers, no reduction, no encryption, gone when it ends. */
export class MemoryEngine implements Omit<EngineCore, keyof ShareEngine> {
  readonly #pools = new Map<string, MemoryPool>();
  readonly #volumes = new Map<string, MemoryVolume>();
  /** What shows volumes to servers. */
  users: { readonly exports: BlockExports; readonly shares: FileShares } | undefined;
  #version = Date.now();

  find(id: string): MemoryVolume | undefined {
    return this.#volumes.get(id);
  }

  findSnapshot(id: string): MemoryBytes | undefined {
    return this.#holder(id)?.snapshots.get(id);
  }

  report(sinceVersion: number): Promise<Report> {
    const volumes = [...this.#volumes.values()].filter(({ changedIn }) => changedIn >= sinceVersion);
    this.#version += 1;
    const { exports, shares } = this.users ?? {};
    return Promise.resolve({
      version: this.#version,
      volumes: volumes.map((volume) => volume.report()),
      pools: [...this.#pools.values()].map(poolReport),
      sessions: [...(exports?.sessions() ?? []), ...(shares?.sessions() ?? [])],
      servers: [...(exports?.servers() ?? []), ...(shares?.servers() ?? [])],
      ...{ drives: [], groups: [], controllers: [] },
    });
  }

  volume(id: string): Promise<VolumeReport> {
    return translateErrors(() => this.#volume(id).report());
  }

  createPool({ id, capacityBytes }: wanted.NewPool): Promise<void> {
    if (!this.#pools.has(id)) this.#pools.set(id, { id, capacityBytes, usedBytes: 0 });
    return Promise.resolve();
  }

  deletePool(id: string, isForced = false): Promise<void> {
    return translateErrors(async () => {
      const inside = [...this.#volumes.values()].filter(({ pool }) => pool.id === id);
      if (inside.length > 0 && !isForced) throw new StorageError('conflict', `Pool ${id} holds volumes.`);
      for (const volume of inside) await this.deleteVolume(volume.id);
      this.#pools.delete(id);
    });
  }

  expandPool(id: string, _groups: readonly string[], capacityBytes: number): Promise<void> {
    return translateErrors(() => {
      this.#pool(id).capacityBytes = capacityBytes;
    });
  }

  /** Everything is in memory. */
  setPoolCache(id: string): Promise<void> {
    return translateErrors(() => void this.#pool(id));
  }

  createVolume({ id, pool, sizeBytes, compression, deduplication, key }: wanted.NewVolume): Promise<void> {
    return translateErrors(() => {
      if (this.#volumes.has(id)) return;
      if (compression || deduplication || key) {
        throw new StorageError('invalid', 'The memory engine neither reduces nor encrypts volumes.');
      }
      this.#add(id, this.#pool(pool), new MemoryBytes(this.#pool(pool), sizeBytes));
    });
  }

  expandVolume(id: string, sizeBytes: number): Promise<void> {
    return translateErrors(async () => {
      const volume = this.#volume(id);
      if (sizeBytes < volume.sizeBytes) throw new StorageError('invalid', 'Volumes do not become smaller.');
      volume.bytes.sizeBytes = sizeBytes;
      volume.changed();
      await this.users?.exports.volumeResized(id);
      await this.users?.shares.volumeResized(id);
    });
  }

  deleteVolume(id: string): Promise<void> {
    return translateErrors(async () => {
      const volume = this.#volumes.get(id);
      if (!volume) return;
      await this.users?.exports.removeVolume(id);
      await this.users?.shares.removeVolume(id);
      volume.release();
      for (const bytes of [volume.bytes, ...volume.snapshots.values()]) bytes.clear();
      this.#volumes.delete(id);
    });
  }

  /** It never reaches a cap: who tests caps needs an engine with a clock of its own. */
  setCaps(id: string): Promise<void> {
    return translateErrors(() => void this.#volume(id));
  }

  countSizes(id: string): Promise<void> {
    return translateErrors(() => void this.#volume(id));
  }

  holdWrites(volumes: readonly string[], forMs: number): Promise<void> {
    return translateErrors(async () => {
      const held = volumes.map((id) => this.#volume(id));
      await this.users?.shares.flushShares(volumes);
      for (const volume of held) volume.hold(forMs);
    });
  }

  releaseWrites(volumes: readonly string[]): Promise<void> {
    for (const id of volumes) this.#volumes.get(id)?.release();
    return Promise.resolve();
  }

  moveVolume(id: string, pool: string, withSnapshots: boolean, work: wanted.MoveWork): Promise<void> {
    return translateErrors(() => {
      const volume = this.#volume(id);
      const target = this.#pool(pool);
      if (work.signal?.aborted === true) throw new StorageError('cancelled', 'It was cancelled.');
      if (target === volume.pool) return;
      const moved = volume.bytes.copy(target);
      volume.bytes.clear();
      volume.bytes = moved;
      for (const [name, bytes] of volume.snapshots) {
        if (withSnapshots) volume.snapshots.set(name, bytes.copy(target));
        else volume.snapshots.delete(name);
        bytes.clear();
      }
      volume.pool = target;
      volume.changed();
      work.onProgress?.({
        copiedBytes: moved.usedBytes,
        totalBytes: moved.usedBytes,
        snapshot: null,
        workingSnapshotAt: null,
      });
    });
  }

  /** A move is done when it is asked for. */
  pauseMove(id: string): Promise<void> {
    return translateErrors(() => {
      throw new StorageError('conflict', `Volume ${id} is not being moved.`);
    });
  }

  resumeMove(id: string): Promise<void> {
    return this.pauseMove(id);
  }

  takeSnapshots(snapshots: readonly wanted.NewSnapshot[]): Promise<wanted.SnapshotSizes> {
    return translateErrors(async () => {
      const volumes = snapshots.map(({ volume }) => this.#volume(volume));
      await this.users?.shares.flushShares(volumes.filter(({ isHeld }) => !isHeld).map(({ id }) => id));
      for (const [index, { snapshot }] of snapshots.entries()) {
        const volume = volumes[index] as MemoryVolume;
        if (!volume.snapshots.has(snapshot)) volume.snapshots.set(snapshot, volume.bytes.copy());
        volume.changed();
      }
      return snapshots.map(({ snapshot }) => this.#snapshot(snapshot).sizeBytes);
    });
  }

  deleteSnapshot(id: string): Promise<void> {
    return translateErrors(async () => {
      await this.users?.shares.removeSnapshot(id);
      const holder = this.#holder(id);
      holder?.snapshots.get(id)?.clear();
      holder?.snapshots.delete(id);
      holder?.changed();
    });
  }

  cloneSnapshot(snapshot: string, volume: string): Promise<void> {
    return translateErrors(() => {
      if (this.#volumes.has(volume)) return;
      const bytes = this.#snapshot(snapshot);
      this.#add(volume, (this.#holder(snapshot) as MemoryVolume).pool, bytes.copy());
    });
  }

  revertVolume(snapshot: string, unlessSince?: string): Promise<void> {
    return translateErrors(async () => {
      const bytes = this.#snapshot(snapshot);
      const volume = this.#holder(snapshot) as MemoryVolume;
      const replace = (): Promise<void> => {
        if (unlessSince === undefined || !volume.leftBehind.has(unlessSince)) volume.revert(bytes);
        return Promise.resolve();
      };
      if (this.users) await this.users.shares.whileReplaced(volume.id, replace);
      else await replace();
    });
  }

  changes(from: string | undefined, to: string, after: number, limit: number): Promise<wanted.ChangedRange[]> {
    return translateErrors(() => {
      const { sizeBytes } = this.#snapshot(to);
      const differing = this.#snapshot(to).differing(from === undefined ? undefined : this.#snapshot(from));
      return [...differing]
        .filter(({ offset }) => offset + CHUNK_BYTES > after && offset < sizeBytes)
        .slice(0, limit)
        .map(({ offset, mapped }) => {
          const start = Math.max(offset, after);
          return { offset: start, length: Math.min(offset + CHUNK_BYTES, sizeBytes) - start, mapped };
        });
    });
  }

  readSnapshot(id: string, offset: number, length: number): Promise<Uint8Array> {
    return translateErrors(() => {
      const into = Buffer.alloc(length);
      this.#snapshot(id).read(offset, into);
      return into;
    });
  }

  writeVolume(id: string, offset: number, bytes: Uint8Array): Promise<void> {
    return translateErrors(() => this.#volume(id).write(offset, Buffer.from(bytes)));
  }

  discardVolume(id: string, offset: number, length: number): Promise<void> {
    return translateErrors(() => this.#volume(id).discard(offset, length));
  }

  flushVolume(id: string): Promise<void> {
    return translateErrors(() => this.#volume(id).flush());
  }

  shownBytes(id: string): Promise<number> {
    return translateErrors(() => this.#volume(id).bytes.usedBytes);
  }

  putServer(server: wanted.ExportedServer): Promise<void> {
    return translateErrors(() => this.users?.exports.putServer(server));
  }

  removeServer(id: string): Promise<void> {
    return translateErrors(() => this.users?.exports.removeServer(id));
  }

  dropSessions(initiator: string, target: string): Promise<number> {
    const { exports, shares } = this.users ?? {};
    const ended = [exports, shares].map((user) => user?.endSessions(initiator, target) ?? 0);
    return Promise.resolve(ended.reduce((sum, count) => sum + count, 0));
  }

  #add(id: string, pool: MemoryPool, bytes: MemoryBytes): void {
    const volume = new MemoryVolume(id, pool, bytes, (changed) => {
      changed.changedIn = this.#version;
    });
    volume.changed();
    this.#volumes.set(id, volume);
  }

  #pool(id: string): MemoryPool {
    const pool = this.#pools.get(id);
    if (!pool) throw new StorageError('not-found', `There is no pool ${id}.`);
    return pool;
  }

  #volume(id: string): MemoryVolume {
    const volume = this.#volumes.get(id);
    if (!volume) throw new StorageError('not-found', `There is no volume ${id}.`);
    return volume;
  }

  #snapshot(id: string): MemoryBytes {
    const bytes = this.findSnapshot(id);
    if (!bytes) throw new StorageError('not-found', `There is no snapshot ${id}.`);
    return bytes;
  }

  #holder(snapshot: string): MemoryVolume | undefined {
    return [...this.#volumes.values()].find(({ snapshots }) => snapshots.has(snapshot));
  }
}

function poolReport({ id, capacityBytes, usedBytes }: MemoryPool): PoolReport {
  const cache = { capacityBytes: 0, usedBytes: 0, hits: 0, misses: 0, writeHits: 0, writeMisses: 0 };
  return {
    id,
    isOpen: true,
    totalBytes: capacityBytes,
    usedBytes,
    savedBytes: 0,
    groups: [],
    cache,
    io: NO_IO,
  };
}
