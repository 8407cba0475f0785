import { bytes, fail, type Tx } from '@granary/kernel';
import type { SnapshotSizes } from '../engine/engine.ts';
import { isEngineError } from '../engine/errors.ts';
import type { PoolService } from '../pools/service.ts';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import type { Volume } from '../volumes/volume.ts';
import { checkNoDestination, checkReady, checkUnmoved } from '../volumes/rules.ts';
import type { VolumeService } from '../volumes/service.ts';
import { SnapshotDeletion } from './deletion.ts';
import {
  changeState,
  countSnapshots,
  findMirrorNeeding,
  findOldest,
  findSnapshot,
  insertSnapshot,
  isNameTaken,
  listSnapshots,
  renameSnapshot,
  resizeSnapshot,
  type SnapshotFilter,
} from './repository.ts';
import type { SnapshotApplication, SnapshotInPlace, Snapshot } from './snapshot.ts';

export interface Naming {
  readonly displayName: string;
  readonly application: SnapshotApplication;
  readonly rule?: string | undefined;
  readonly policy?: string | undefined;
  readonly mirrorJob?: string | undefined;
  /** Where the name is taken, another like it will do. */
  readonly orSimilar?: boolean;
}

export interface WantedSnapshot extends Naming {
  readonly volume: Volume;
}

const OF_VOLUME_MAX = 10_000;
const ALL_MAX = 200_000;
const SIMILAR_MAX = 100;
const OLDEST_TRIES_MAX = 20;

/**
 * Snapshots, on record and in the engine. One that is being taken is on record first, out of sight, so that whatever a
 * crash leaves in the engine has a name by which it is removed.
 */
export class SnapshotService {
  readonly #tools: ArrayTools;
  readonly #volumes: VolumeService;
  readonly #pools: PoolService;
  readonly #deletion: SnapshotDeletion;
  readonly #listeners: ((snapshots: readonly Snapshot[]) => void)[] = [];

  constructor(tools: ArrayTools, volumes: VolumeService, pools: PoolService) {
    this.#tools = tools;
    this.#volumes = volumes;
    this.#pools = pools;
    this.#deletion = new SnapshotDeletion(tools, volumes.shares);
  }

  /** Called with those that were just taken. Must not throw. */
  onTaken(listener: (snapshots: readonly Snapshot[]) => void): void {
    this.#listeners.push(listener);
  }

  list(filter: SnapshotFilter): { snapshots: SnapshotInPlace[]; count: number } {
    return this.#tools.store.read((db) => listSnapshots(db, filter));
  }

  listOfGroup(cgName: string, filter: SnapshotFilter): { snapshots: SnapshotInPlace[]; count: number } {
    return this.list({ ...filter, volume: this.#volumes.byGroup(cgName).name });
  }

  /** Ready ones; not found: `snapshot_not_found`. */
  get(name: string): SnapshotInPlace {
    const snapshot = this.#tools.store.read((db) => findSnapshot(db, name));
    if (!snapshot) throw fail('snapshot_not_found', { id: name });
    return snapshot;
  }

  async create(cgName: string, displayName: string, actor: string): Promise<string> {
    const [snapshot] = await this.take([this.#volumes.byGroup(cgName)], { displayName, application: 'user' }, actor);
    return snapshot?.name ?? '';
  }

  /** Of all these volumes at one moment. */
  take(volumes: readonly Volume[], naming: Naming, actor: string): Promise<Snapshot[]> {
    return this.takeEach(
      volumes.map((volume) => ({ ...naming, volume })),
      actor,
    );
  }

  async takeEach(wanted: readonly WantedSnapshot[], actor: string): Promise<Snapshot[]> {
    const snapshots = await this.begin(wanted);
    try {
      return await this.show(snapshots, actor);
    } catch (error) {
      await this.drop(snapshots);
      throw error;
    }
  }

  /** Takes them, but out of sight: to be shown or dropped. After a crash they are dropped. */
  async begin(wanted: readonly WantedSnapshot[]): Promise<Snapshot[]> {
    const { store, engine, clock } = this.#tools;
    for (const pool of new Set(wanted.map(({ volume }) => volume.pool))) this.#pools.refuseNew(this.#pools.get(pool));
    const takenAt = clock.now();
    const snapshots = await store.write((tx) => wanted.map((each) => this.#insert(tx, each, takenAt)));
    try {
      const sizes = await engine.takeSnapshots(
        snapshots.map(({ volume, name }) => ({ volume, snapshot: name })),
        takenAt,
      );
      return await this.#sized(snapshots, sizes);
    } catch (error) {
      await this.drop(snapshots);
      throw error;
    }
  }

  /** A volume may have been expanded between the record and the engine: a mirror would leave out what came on top. */
  async #sized(snapshots: readonly Snapshot[], sizes: SnapshotSizes): Promise<Snapshot[]> {
    const sized = snapshots.map((snapshot, index): Snapshot => ({
      ...snapshot,
      sizeBytes: bytes(sizes[index] ?? snapshot.sizeBytes),
    }));
    const other = sized.filter((snapshot, index) => snapshot.sizeBytes !== snapshots[index]?.sizeBytes);
    if (other.length > 0)
      await this.#tools.store.write((tx) => {
        for (const { name, sizeBytes } of other) resizeSnapshot(tx, name, sizeBytes);
      });
    return sized;
  }

  /** From here on they are there for all to see. */
  async show(snapshots: readonly Snapshot[], actor: string, alongside?: (tx: Tx) => void): Promise<Snapshot[]> {
    const all = await this.#tools.store.write((tx) => {
      const shown = snapshots.filter(({ name }) => changeState(tx, name, 'creating', 'ready'));
      for (const snapshot of shown) this.#recordEvent(tx, snapshot.name, 'was taken', actor);
      alongside?.(tx);
      if (shown.length < snapshots.length) {
        throw fail('volume_gone_meanwhile');
      }
      return shown.map((snapshot): Snapshot => ({ ...snapshot, state: 'ready' }));
    });
    await this.#volumes.shares.followSnapshots(all.map(({ volume }) => volume));
    for (const listener of this.#listeners) listener(all);
    return all;
  }

  drop(snapshots: readonly Snapshot[]): Promise<void> {
    return this.#deletion.finish(snapshots, undefined);
  }

  async rename(name: string, displayName: string, actor: string): Promise<void> {
    const { store, clock } = this.#tools;
    const { volume } = this.get(name);
    await store.write((tx) => {
      const snapshot = this.get(name);
      if (snapshot.displayName === displayName) return;
      if (isNameTaken(tx, snapshot.volume, displayName)) throw fail('name_taken', { name: displayName });
      renameSnapshot(tx, name, displayName, clock.now());
      this.#recordEvent(tx, name, `got its name; before it was called ${snapshot.displayName}`, actor);
    });
    await this.#volumes.shares.followSnapshots([volume]);
  }

  /** At a user's request: refused where it is in use. */
  async remove(name: string, actor: string): Promise<void> {
    this.refuseNeeded(this.get(name));
    await this.delete([name], actor);
  }

  refuseNeeded(snapshot: Snapshot): void {
    const needed = this.#neededBy(snapshot);
    if (needed !== undefined) throw fail('snapshot_needed', { id: snapshot.name, needed });
  }

  /** Like `delete`, but snapshots in use stay for now. */
  async deleteUnneeded(snapshots: readonly Snapshot[], actor: string): Promise<void> {
    const unneeded = snapshots.filter((snapshot) => this.#neededBy(snapshot) === undefined);
    await this.delete(
      unneeded.map(({ name }) => name),
      actor,
    );
  }

  /** Those that are gone already are passed over; those in use are waited for. */
  delete(names: readonly string[], actor: string): Promise<void> {
    return this.#deletion.delete(names, actor);
  }

  /** The snapshot is not deleted meanwhile. */
  using<T>(name: string, work: (snapshot: SnapshotInPlace) => Promise<T>): Promise<T> {
    const snapshot = this.get(name);
    return this.#deletion.holding(name, () => work(snapshot));
  }

  /** To make room in a pool. False when there is none to delete. */
  async deleteOldest(pool: string): Promise<boolean> {
    const { store, events } = this.#tools;
    const kept = [...this.#deletion.held.keys()];
    for (let tries = 0; tries < OLDEST_TRIES_MAX; tries += 1) {
      const oldest = store.read((db) => findOldest(db, pool, kept));
      if (!oldest) return false;
      try {
        await this.delete([oldest.name], 'system');
      } catch (error) {
        if (!isEngineError(error, 'conflict')) throw error;
        kept.push(oldest.name);
        continue;
      }
      const { displayName, name, volumeDisplayName, volume } = oldest;
      const title = `Snapshot ${displayName} (${name}) of volume ${volumeDisplayName} (${volume}) was given up because pool ${pool} is nearly full.`;
      await store.write((tx) => events.record(tx, { severity: 'warning', title, subject: `pool:${pool}` }));
      return true;
    }
    return false;
  }

  /** Before requests are served: what a crash cut off is undone or finished, in the background. */
  reconcile(): Promise<void> {
    return this.#deletion.reconcile();
  }

  #neededBy(snapshot: Snapshot): string | undefined {
    const mirror = this.#tools.store.read((db) => findMirrorNeeding(db, snapshot.name));
    if (mirror !== undefined) return `is what mirror job ${mirror} goes by; break the mirror first.`;
    const { migration, restoring } = this.#volumes.get(snapshot.volume);
    if (restoring !== null) return 'may be needed: its volume is being restored; try again when that is done.';
    if (this.#deletion.held.has(snapshot.name)) return 'is being cloned; try again when that is done.';
    if (migration !== null) {
      return 'is on the move with its volume; wait for the migration, or abort it.';
    }
    return undefined;
  }

  #insert(tx: Tx, wanted: WantedSnapshot, takenAt: number): Snapshot {
    // Once more: it may have changed since the caller looked.
    const volume = this.#volumes.get(wanted.volume.name);
    checkReady(volume);
    checkUnmoved(volume);
    // Between two rounds of its mirror a destination may hold half of one.
    if (wanted.mirrorJob === undefined) checkNoDestination(volume);
    refuseTooMany(tx, volume);
    const snapshot: Snapshot = {
      name: nextName(tx, 'snap'),
      displayName: freeName(tx, volume.name, wanted),
      volume: volume.name,
      sizeBytes: volume.sizeBytes,
      application: wanted.application,
      rule: wanted.rule ?? null,
      policy: wanted.policy ?? null,
      mirrorJob: wanted.mirrorJob ?? null,
      state: 'creating',
      createdAt: takenAt,
      modifiedAt: takenAt,
    };
    insertSnapshot(tx, snapshot);
    return snapshot;
  }

  #recordEvent(tx: Tx, name: string, what: string, actor: string): void {
    const snapshot = findSnapshot(tx, name);
    if (!snapshot) return;
    const title = `Snapshot ${snapshot.displayName} (${name}) of volume ${snapshot.volumeDisplayName} (${snapshot.volume}) ${what}.`;
    this.#tools.events.record(tx, { title, subject: `volume:${snapshot.volume}`, actor });
  }
}

function refuseTooMany(tx: Tx, { name }: Volume): void {
  if (countSnapshots(tx, name) >= OF_VOLUME_MAX) {
    throw fail('snapshots_of_volume_limit', { volume: name, max: OF_VOLUME_MAX });
  }
  if (countSnapshots(tx) < ALL_MAX) return;
  throw fail('snapshots_limit', { max: ALL_MAX });
}

function freeName(tx: Tx, volume: string, { displayName, orSimilar = false }: Naming): string {
  for (let n = 1; n <= (orSimilar ? SIMILAR_MAX : 1); n += 1) {
    const candidate = n === 1 ? displayName : `${displayName} (${n})`;
    if (!isNameTaken(tx, volume, candidate)) return candidate;
  }
  throw fail('name_taken', { name: displayName });
}
