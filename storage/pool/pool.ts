import type { Database } from '@granary/kernel/sqlite';
import { StorageError } from '../errors.ts';
import { PoolCommits } from '../metadata/pool-commits.ts';
import { openPoolDatabase } from '../metadata/pool-database.ts';
import type { BlockGroup } from '../raid/group.ts';
import type { SpaceReserve } from '../space-reserve.ts';
import { EXTENT_BYTES } from '../units.ts';
import { foldAway } from '../volume/fold.ts';
import type { LayerWriter } from '../volume/format.ts';
import { type Layer, Layers, stackOf } from '../volume/layers.ts';
import { PlainFormat } from '../volume/plain-format.ts';
import { ReducedFormat } from '../volume/reduced/reduced-format.ts';
import { type PoolReduction, type Reduction, reductionOf } from '../volume/reduced/reduction.ts';
import type { Volume } from '../volume/volume.ts';
import { Allocator, GroupSpace, type PoolMode } from './allocator.ts';
import { type CacheSettings, PoolCache } from './pool-cache.ts';
import type { CacheStatistics } from './read-cache.ts';
import { Catalogue, MIXED_FORMATS } from './catalogue.ts';
import { evacuate, type EvacuationOptions } from './evacuation.ts';
import { Extents } from './extents.ts';
import { BackgroundFolding } from './background-folding.ts';
import { claimExtents } from './opening.ts';
import { PoolSnapshots } from './pool-snapshots.ts';
import type { PoolState } from './state.ts';
import { shownBytes } from '../volume/shown-bytes.ts';
import {
  chargedFor,
  chunkShareOf,
  isAllReduced,
  type PoolUsage,
  spaceOf,
  usageOf,
  type VolumeUsage,
  volumeUsageOf,
} from './usage.ts';
import { PoolVolumes } from './pool-volumes.ts';

export interface PoolSetup {
  /** The metadata file. */
  readonly file: string;
  readonly groups: readonly BlockGroup[];
  /** Receives errors of background work. Nothing is lost: the work is resumed at the next open. */
  readonly onError?: (error: unknown) => void;
  /** Called when everything that a volume switched on later held plain is reduced. */
  readonly onReduced?: ((volumeId: string) => void) | undefined;
  /** Space on the disk of the metadata and the drives: without it nothing can be deleted when that disk is full. */
  readonly reserve?: SpaceReserve;
}

export interface NewPool extends PoolSetup {
  readonly id: string;
  readonly mode: PoolMode;
}

/** Of a new pool: the version goes up with what it holds. */
const FIRST_VERSION = 1;
const VERSION = MIXED_FORMATS;

/** Volumes and snapshots on RAID groups: extents, their metadata, and background work. */
export class Pool {
  readonly id: string;
  readonly mode: PoolMode;
  readonly volumes: PoolVolumes;
  readonly snapshots: PoolSnapshots;
  readonly state: PoolState;
  readonly #database: Database;
  readonly #emptying = new Set<string>();
  readonly #cache = new PoolCache();
  readonly #onReduced: PoolSetup['onReduced'];

  static async create(setup: NewPool): Promise<Pool> {
    const database = openPoolDatabase(setup.file, { create: true });
    if (database.get('SELECT id FROM pool')) {
      database.close();
      throw new StorageError('conflict', `${setup.file} holds a pool already; open it instead.`);
    }
    database.transaction((tx) => tx.run('INSERT INTO pool VALUES (1, ?, ?, ?)', FIRST_VERSION, setup.id, setup.mode));
    const pool = new Pool(setup, database);
    for (const group of setup.groups) await pool.addGroup(group);
    await pool.flush();
    return pool;
  }

  static open(setup: PoolSetup): Pool {
    const database = openPoolDatabase(setup.file);
    try {
      return new Pool(setup, database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  private constructor(setup: PoolSetup, database: Database) {
    this.#database = database;
    const row = database.get<{ id: string; mode: PoolMode; version: number }>('SELECT id, mode, version FROM pool');
    if (!row) throw new StorageError('not-found', `${setup.file} holds no pool; its creation was perhaps cut off.`);
    if (row.version > VERSION) {
      const what = `${setup.file} holds a pool of version ${row.version}, this program knows ${VERSION}; use a newer one.`;
      throw new StorageError('invalid', what);
    }
    this.#onReduced = setup.onReduced;
    this.id = row.id;
    this.mode = row.mode;
    this.state = this.#connect(setup);
    this.#openGroups(setup.groups);
    claimExtents(database, this.state.extents.allocator, this.state.layers);
    this.state.formats.reduced.open(this.state.layers);
    this.volumes = new PoolVolumes(this.state);
    this.snapshots = new PoolSnapshots(this.state, this.volumes);
    for (const layer of this.state.layers.all()) this.state.folding.foldIfUnreferenced(layer);
  }

  /** Resolves when everything acknowledged so far survives a crash. */
  async flush(): Promise<void> {
    await this.state.commits.commit();
  }

  /** The same after a deletion: on a full disk it uses the reserve. */
  async flushDeletion(): Promise<void> {
    await this.state.commits.commitDeletion();
  }

  /** Resolves when no background work is left. */
  async whenIdle(): Promise<void> {
    await this.state.folding.whenIdle();
    await this.state.extents.trimming.idle();
  }

  usage(): PoolUsage {
    return usageOf(this.state, this.volumes);
  }

  /** The part of the usage that is known without walking maps. */
  space(): { readonly totalBytes: number; readonly usedBytes: number } {
    return spaceOf(this.state);
  }

  /** What a byte of a chunk that a volume refers to takes of the pool; see `HeldSpace`. */
  chunkShare(): number {
    return chunkShareOf(this.state);
  }

  volumeUsage(id: string): VolumeUsage {
    return volumeUsageOf(this.volumes.get(id), this.snapshots);
  }

  /** The bytes that a volume maps, in whatever layer: at most its size, unlike its usage. Walks all its maps. */
  shownBytes(id: string): Promise<number> {
    return shownBytes(this.volumes.get(id).layer);
  }

  /** The savings of compression and deduplication in all volumes created with them. */
  reduction(): PoolReduction {
    return this.state.formats.reduced.reduction();
  }

  /** The savings in one volume and its snapshots, with the layers below them; zeros for a volume created without. */
  volumeReduction(id: string): Promise<Reduction> {
    const tops = [this.volumes.get(id).layer, ...this.snapshots.list(id).map((each) => each.layer)];
    return reductionOf(new Set(tops.flatMap((top) => stackOf(top))));
  }

  /** Deletes a volume and its snapshots. Clones of its snapshots stay as they are. */
  async deleteVolume(id: string): Promise<void> {
    for (const snapshot of this.snapshots.list(id)) await this.snapshots.delete(snapshot.id);
    await this.volumes.delete(id);
    // Snapshots that were taken during the deletion.
    for (const snapshot of this.snapshots.list(id)) await this.snapshots.delete(snapshot.id);
  }

  setCacheBytes(bytes: number): void {
    this.setCache({ bytes });
  }

  /** The content of the cache is kept unless its size changes. */
  setCache(settings: CacheSettings): void {
    this.#cache.set(settings);
    this.state.extents.cache = this.#cache.current;
  }

  cacheStatistics(): CacheStatistics {
    return this.#cache.statistics();
  }

  /** Limits the capacity used of the groups; what is used already stays. Not persistent: set at each open. */
  setCapacityLimit(bytes: number): void {
    this.state.extents.allocator.setLimit(Math.floor(bytes / EXTENT_BYTES));
  }

  /** Attaches a group that was missing when the pool was opened. */
  bringGroup(group: BlockGroup): void {
    this.state.extents.bringGroup(group);
  }

  get groups(): { readonly id: string; readonly isMissing: boolean }[] {
    return this.state.extents.allocator.spaces.map(({ groupId, missing }) => ({ id: groupId, isMissing: missing }));
  }

  /** Expands the pool by a group. */
  async addGroup(group: BlockGroup): Promise<void> {
    const { extents, catalogue } = this.state;
    if (extents.allocator.spaces.some(({ groupId }) => groupId === group.id)) {
      throw new StorageError('conflict', `RAID group ${group.id} is in the pool already.`);
    }
    const firstExtent = extents.allocator.nextFirstExtent();
    const extentCount = Math.floor(group.capacityBytes / EXTENT_BYTES);
    extents.addGroup(new GroupSpace(group.id, firstExtent, extentCount), group);
    catalogue.putGroup({ id: group.id, firstExtent, extentCount, leaving: false });
    await this.flush();
  }

  /** Evacuates the group and removes it from the pool. After a cancellation the group stays in use. */
  async removeGroup(id: string, options: EvacuationOptions = {}): Promise<void> {
    const { extents } = this.state;
    const space = this.#spaceOf(id);
    if (this.#emptying.has(id)) throw new StorageError('conflict', `RAID group ${id} is being emptied already.`);
    if (extents.allocator.freeExtents - (space.isOpen ? space.free : 0) < space.used) {
      await this.keepGroup(id);
      throw new StorageError(
        'pool-full',
        `What lies on RAID group ${id} does not fit on the others; expand the pool first.`,
      );
    }
    this.#emptying.add(id);
    this.#setLeaving(space, true);
    try {
      await this.state.folding.exclusively(() => {
        return evacuate(this.state, (layer) => this.#volumeOf(layer), space, options);
      });
    } catch (error) {
      this.#setLeaving(space, false);
      await this.flush();
      throw error;
    } finally {
      this.#emptying.delete(id);
    }
    extents.removeGroup(space);
    this.state.catalogue.removeGroup(id);
    await this.flush();
  }

  /** Cancels an evacuation that a crash interrupted: the group is used again. */
  async keepGroup(id: string): Promise<void> {
    const space = this.#spaceOf(id);
    if (!space.leaving || this.#emptying.has(id)) return;
    this.#setLeaving(space, false);
    await this.flush();
  }

  async close(): Promise<void> {
    for (const volume of this.volumes.list()) volume.close('is closed with its pool');
    this.#cache.close();
    try {
      await this.state.folding.close();
      await this.state.extents.trimming.close();
      await this.flush();
    } finally {
      this.#database.close();
    }
  }

  #connect(setup: PoolSetup): PoolState {
    const onError = setup.onError ?? (() => undefined);
    const extents = new Extents(new Allocator(this.mode), setup.reserve, onError);
    const commits = new PoolCommits(
      this.#database,
      () => extents.flush(),
      (retired) => extents.readers.retire(retired),
      setup.reserve,
    );
    extents.connect(commits);
    const layers = new Layers(this.#database, commits);
    const plain = new PlainFormat(extents, commits);
    const reduced = new ReducedFormat(extents, commits, this.#database, plain);
    const catalogue = new Catalogue(this.#database, commits);
    const folding = new BackgroundFolding((layer) => this.#fold(layer), onError);
    return { extents, commits, layers, catalogue, formats: { plain, reduced }, folding: folding };
  }

  async #fold(layer: Layer): Promise<Layer[]> {
    const { layers, commits, formats } = this.state;
    // Folding overwrites blocks that only the removed name referred to, so the removal must be durable first.
    await commits.commitDeletion();
    if (!layers.has(layer) || !layer.isUnreferenced) return [];
    const concerned = [layer, ...layer.children].map(({ ownerId }) => this.volumes.find(ownerId));
    const isConversion = layer.format === 'plain' && layer.firstChild?.format === 'reduced';
    const left = await foldAway(
      {
        layers,
        commits,
        reduced: formats.reduced,
        formatOf: (each) => formats[each.format],
        writerOf: (each) => this.#writerOf(each),
        isClosing: () => this.state.folding.isClosed,
        volumeOf: (each) => this.#volumeOf(each),
        rename: (from, to) => this.#rename(from, to),
      },
      layer,
    );
    for (const volume of concerned) volume?.changed();
    for (const each of left) if (layers.has(each)) this.#chargedFor(each)?.changed();
    if (isConversion && !layers.has(layer)) this.#reportReduced(concerned);
    return left;
  }

  /** The volume whose usage contains the layer. */
  #chargedFor(layer: Layer): Volume | undefined {
    const { volumeId, snapshotId } = chargedFor(layer) ?? {};
    return this.volumes.find(snapshotId === undefined ? volumeId : this.snapshots.find(snapshotId)?.volumeId);
  }

  #reportReduced(volumes: readonly (Volume | undefined)[]): void {
    for (const volume of new Set(volumes)) {
      if (volume && isAllReduced(volume.layer)) this.#onReduced?.(volume.id);
    }
  }

  #rename(from: Layer, to: Layer): void {
    const { snapshotId, volumeId } = from;
    if (volumeId !== undefined) this.volumes.setTop(this.volumes.get(volumeId), to);
    if (snapshotId !== undefined) this.snapshots.setLayer(snapshotId, to);
    from.snapshotId = undefined;
  }

  #volumeOf(layer: Layer): Volume | undefined {
    return layer.volumeId === undefined ? undefined : this.volumes.get(layer.volumeId);
  }

  /** Volumes that share a layer share their key. */
  #writerOf({ volumeId, snapshotId }: Layer): LayerWriter | undefined {
    const id = snapshotId === undefined ? volumeId : this.snapshots.get(snapshotId).volumeId;
    const volume = this.volumes.get(id ?? '');
    return volume.isLocked ? undefined : volume;
  }

  #openGroups(groups: readonly BlockGroup[]): void {
    for (const record of this.state.catalogue.groups()) {
      const space = new GroupSpace(record.id, record.firstExtent, record.extentCount, record.leaving);
      this.state.extents.addGroup(
        space,
        groups.find((group) => group.id === record.id),
      );
    }
  }

  #spaceOf(id: string): GroupSpace {
    const space = this.state.extents.allocator.spaces.find((each) => each.groupId === id);
    if (!space) throw new StorageError('not-found', `RAID group ${id} is not in the pool.`);
    return space;
  }

  #setLeaving(space: GroupSpace, leaving: boolean): void {
    space.leaving = leaving;
    this.state.formats.reduced.space.containers.relist();
    const { groupId: id, firstExtent, extentCount } = space;
    this.state.catalogue.putGroup({ id, firstExtent, extentCount, leaving });
  }
}
