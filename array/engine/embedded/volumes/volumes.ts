import { type Caps, reconcileMigrations, StorageError, type Volume } from '@granary/storage';
import type { NewVolume, Reduction, VolumeCaps } from '../../engine.ts';
import type { VolumeReport } from '../../report.ts';
import type { EnginePool, EnginePools } from '../pools.ts';
import type { BlockExports, FileShares } from '../setup.ts';
import { VolumeHandle } from './volume-handle.ts';

const HOLD_MS_MAX = 10 * 60_000;

/** Who shows volumes to servers. */
interface Users {
  readonly exports?: BlockExports | undefined;
  readonly shares?: FileShares | undefined;
}

/** The volumes of all pools. */
export class EngineVolumes {
  readonly #pools: EnginePools;
  readonly #users: () => Users;
  readonly #handles = new Map<string, VolumeHandle>();
  /** Since the last report. */
  readonly #changed = new Set<VolumeHandle>();
  readonly #underWay = new Map<string, Promise<void>>();
  /** Goes up with every report; later engines of the same array start higher. */
  #version = Date.now();

  constructor(pools: EnginePools, users: () => Users) {
    this.#pools = pools;
    this.#users = users;
  }

  /** Ends moves that a crash cut off, and finds all volumes. */
  async open(onProblem: (error: unknown) => void): Promise<void> {
    const all = [...this.#pools.all()];
    const pools = all.flatMap(({ pool }) => (pool ? [pool] : []));
    // A pool that cannot take it now is reconciled at the next start; its volumes are there, but refuse.
    await reconcileMigrations(pools, pools.length === all.length).catch(onProblem);
    for (const entry of this.#pools.all()) {
      for (const volume of entry.pool?.volumes.list() ?? []) {
        const state = entry.pool?.volumes.stateOf(volume.id);
        if (state === 'moved' || (state === 'incoming' && this.#isElsewhere(volume.id, entry))) continue;
        this.#add(volume, entry);
      }
    }
  }

  get(id: string): VolumeHandle {
    const handle = this.#handles.get(id);
    if (handle) return handle;
    throw new StorageError('not-found', `There is no volume ${id}.`);
  }

  find(id: string): VolumeHandle | undefined {
    return this.#handles.get(id);
  }

  create({ id, pool, sizeBytes, key, compression, deduplication }: NewVolume): Promise<void> {
    return this.#make(id, this.#pools.get(pool), async (entry) => {
      return entry.open.volumes.create({
        id,
        sizeBytes,
        options: { compression, deduplication },
        ...(key && { key: Buffer.from(key) }),
      });
    });
  }

  clone(pool: EnginePool, snapshot: string, id: string): Promise<void> {
    return this.#make(id, pool, (entry) => entry.open.snapshots.clone(snapshot, id));
  }

  async expand(id: string, sizeBytes: number): Promise<void> {
    const handle = this.get(id);
    // A repeated call may follow one that failed because it could not be written.
    if (handle.sizeBytes === sizeBytes) await handle.pool.open.flush();
    else await handle.pool.open.volumes.expand(id, sizeBytes);
    await this.#users().exports?.volumeResized(id);
    await this.#users().shares?.volumeResized(id);
  }

  async delete(id: string): Promise<void> {
    const handle = this.#handles.get(id);
    if (!handle) return;
    this.#pools.requireRecording(handle.pool);
    const { open: pool } = handle.pool;
    if (handle.isThere) {
      pool.volumes.requireStable(id);
      await this.#removeFromProtocols(id);
      handle.release();
      handle.measure();
      await pool.deleteVolume(id);
      // It is removed from the metadata in memory only, if the last write of that failed.
    } else await pool.flushDeletion();
    this.#handles.delete(id);
    this.#changed.delete(handle);
  }

  /** Its pool goes, and takes its volumes along. */
  async drop(pool: EnginePool): Promise<void> {
    for (const [id, handle] of this.#handles) {
      if (handle.pool !== pool) continue;
      await this.#removeFromProtocols(id);
      handle.release();
      this.#handles.delete(id);
      this.#changed.delete(handle);
    }
  }

  async setReduction(id: string, { compression, deduplication }: Reduction): Promise<void> {
    await this.get(id).pool.open.volumes.setOptions(id, { compression, deduplication });
  }

  setCaps(id: string, caps: VolumeCaps): void {
    const { volume } = this.get(id);
    volume.setCaps(capsOf(caps.readIops, caps.readBytesPerSecond), capsOf(caps.writeIops, caps.writeBytesPerSecond));
  }

  unlock(id: string, key: Uint8Array): void {
    this.get(id).pool.open.volumes.unlock(id, Buffer.from(key));
    this.#users().shares?.volumeUnlocked(id);
  }

  async hold(ids: readonly string[], forMs: number): Promise<void> {
    if (!(forMs > 0 && forMs <= HOLD_MS_MAX)) {
      throw new StorageError('invalid', `Writes are held back for up to ${HOLD_MS_MAX} milliseconds, not ${forMs}.`);
    }
    const handles = ids.map((id) => this.get(id));
    await this.#users().shares?.flushShares(ids);
    await Promise.all(handles.map((handle) => handle.hold(forMs)));
  }

  release(ids: readonly string[]): void {
    for (const id of ids) this.#handles.get(id)?.release();
  }

  releaseAll(): void {
    for (const handle of this.#handles.values()) handle.release();
  }

  /** Those that changed since the report of that version, and the version of this one. */
  changedSince(version: number): { version: number; volumes: VolumeReport[] } {
    const isLast = version === this.#version;
    this.#version += 1;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const handle of changed) {
      // A volume that is being deleted is not reported.
      if (!handle.isThere) continue;
      handle.measure();
      handle.changedIn = this.#version;
    }
    // The caller of the last report knows all earlier changes; any other caller gets all since its version.
    const reported = isLast ? changed : [...this.#handles.values()].filter(({ changedIn }) => changedIn > version);
    return { version: this.#version, volumes: reported.filter(({ isThere }) => isThere).map(({ report }) => report) };
  }

  /** Callers that ask for a volume being made wait for it, so that it survives a crash when they are answered. */
  async #make(id: string, entry: EnginePool, make: (entry: EnginePool) => Promise<Volume>): Promise<void> {
    const underWay = this.#underWay.get(id);
    if (underWay) return underWay;
    if (this.#handles.has(id)) return;
    const making = make(entry)
      .then((volume) => this.#add(volume, entry))
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, making);
    return making;
  }

  async #removeFromProtocols(id: string): Promise<void> {
    const { exports, shares } = this.#users();
    await exports?.removeVolume(id);
    await shares?.removeVolume(id);
  }

  #add(volume: Volume, entry: EnginePool): void {
    this.#handles.set(volume.id, new VolumeHandle(volume, entry, (handle) => this.#changed.add(handle)));
  }

  #isElsewhere(id: string, here: EnginePool): boolean {
    return [...this.#pools.all()].some((entry) => {
      const volumes = entry === here ? undefined : entry.pool?.volumes;
      return volumes?.find(id) !== undefined && volumes.stateOf(id) !== 'moved';
    });
  }
}

function capsOf(operationsPerSecond: number, bytesPerSecond: number): Caps {
  return { operationsPerSecond: operationsPerSecond || undefined, bytesPerSecond: bytesPerSecond || undefined };
}
