import { badParameter, fail, type Bytes, type Db, type Page, type Tx } from '@granary/kernel';
import { EngineError } from '../engine/errors.ts';
import type { PerformanceService } from '../performance/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { VolumeEncryption } from '../settings/encryption.ts';
import type { LifecycleChange, ShareLifecycle } from './share-lifecycle.ts';
import { shareOf } from '../shares/rules.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import {
  VolumeUpdates,
  type ExportChange,
  type ProtectionChange,
  type Thresholds,
  type VolumeOptions,
} from './updates.ts';
import { VolumeCreation, type Alongside } from './creation.ts';
import { VolumeDeletion, type RecycleBin } from './deletion.ts';
import type { VolumeDependents } from './dependents.ts';
import { countVolumes, findVolumeFacts, listVolumes, type VolumeFilter } from './listing-repository.ts';
import type { NewVolumeRequest } from './new-volume.ts';
import { VolumePages } from './pages.ts';
import { findVolume, findVolumeByGroup } from './repository.ts';
import type { Volume } from './volume.ts';
import { checkNoDestination, checkReady } from './rules.ts';
import { reconcileVolumes } from './reconcile.ts';
import { ViewContext } from './view-context.ts';
import { freeVolumeView, volumeView, type FreeVolumeView, type VolumeView } from './view.ts';
import { VolumeWatch } from './watch.ts';

export type { NewVolumeRequest } from './new-volume.ts';

interface Neighbours {
  readonly pools: PoolService;
  readonly encryption: VolumeEncryption;
  readonly performance: PerformanceService;
  readonly shares: ShareService;
  readonly dependents: VolumeDependents;
  readonly recycleBin: () => RecycleBin;
}

/** For those who work with shares alone. */
export type ShareFinder = Pick<VolumeService, 'getShare' | 'usableShare'>;

/** The block volumes and file shares of the array. */
export class VolumeService {
  /** How those of them that are shares are served. */
  readonly shares: ShareService;
  readonly #tools: ArrayTools;
  readonly #dependents: VolumeDependents;
  readonly #surroundings: ViewContext;
  readonly #pages: VolumePages;
  readonly #creation: VolumeCreation;
  readonly #changes: VolumeUpdates;
  readonly #deletion: VolumeDeletion;
  readonly #watch: VolumeWatch;
  #lifecycle: ShareLifecycle | undefined;

  constructor(tools: ArrayTools, { pools, encryption, performance, shares, dependents, recycleBin }: Neighbours) {
    this.shares = shares;
    this.#tools = tools;
    this.#dependents = dependents;
    this.#surroundings = new ViewContext(tools.readings);
    this.#pages = new VolumePages(tools, (volume) => this.#surroundings.of(volume));
    this.#creation = new VolumeCreation(tools, { pools, encryption, shares, dependents });
    this.#changes = new VolumeUpdates(tools, shares, dependents);
    this.#deletion = new VolumeDeletion(tools, { performance, shares, dependents, bin: recycleBin });
    this.#watch = new VolumeWatch(tools, (name, sizeBytes) => this.expandTo(name, sizeBytes, 'system'));
  }

  /** Who scans shares for file lifecycle policies. */
  followLifecycle(lifecycle: ShareLifecycle): void {
    this.#lifecycle = lifecycle;
    this.#surroundings.showLifecycle(lifecycle);
  }

  /** Those that are there for users: being made, ready, or being deleted. Not found: `volume_not_found`. */
  get(name: string): Volume {
    const volume = this.#tools.store.read((db) => findVolume(db, name));
    if (!volume) throw fail('volume_not_found', { id: name });
    return volume;
  }

  /** Like `get`, of a share; a block volume is a `state_conflict`. */
  getShare(name: string): Volume {
    const volume = this.get(name);
    this.#tools.store.read((db) => shareOf(db, name));
    return volume;
  }

  /** A share whose files are there: not one that is being made or deleted, nor one that a mirror writes to. */
  usableShare(name: string): Volume {
    const volume = this.getShare(name);
    checkReady(volume);
    checkNoDestination(volume);
    return volume;
  }

  /** By the name of its consistency group; not found: `consistency_group_not_found`. */
  byGroup(cgName: string): Volume {
    const volume = this.#tools.store.read((db) => findVolumeByGroup(db, cgName));
    if (!volume) throw fail('consistency_group_not_found', { id: cgName });
    return volume;
  }

  /** The record of one, as it is this moment. */
  async show(name: string): Promise<VolumeView> {
    const { store, readings } = this.#tools;
    this.get(name);
    // A pool that failed cannot be asked; then what was last read has to do.
    await readings.freshVolume(name).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
    const facts = store.read((db) => findVolumeFacts(db, name));
    if (!facts) throw fail('volume_not_found', { id: name });
    return volumeView(facts, this.#surroundings.of(name));
  }

  /** A page of records, and how many match in all. */
  list(filter: VolumeFilter, page: Page): { volumes: VolumeView[]; count: number } {
    return this.#pages.read(filter, page);
  }

  listFree(page: Page): { volumes: FreeVolumeView[]; count: number } {
    const filter = { isFree: true };
    return this.#tools.store.read((db) => ({
      volumes: listVolumes(db, filter, page).map((facts) => freeVolumeView(facts, this.#surroundings.of(facts.name))),
      count: countVolumes(db, filter),
    }));
  }

  /** `alongside` is part of the transaction that puts it on record; if it throws, there is no volume. */
  create(wanted: NewVolumeRequest, actor: string, alongside?: Alongside): Promise<Volume> {
    return this.#creation.create(wanted, actor, alongside);
  }

  /**
   * A volume of what a snapshot shows: same options and key. Found by its name when this resolves. `alongside` is part
   * of the transaction that puts it on record.
   */
  createClone(
    displayName: string,
    source: Volume,
    snapshot: string,
    actor: string,
    alongside?: Alongside,
  ): Promise<Volume> {
    return this.#creation.createClone(displayName, source, snapshot, actor, alongside);
  }

  rename(name: string, displayName: string, actor: string): Promise<void> {
    return this.#changes.rename(name, displayName, actor);
  }

  comment(name: string, comment: string, actor: string): Promise<void> {
    return this.#changes.comment(name, comment, actor);
  }

  /** `lifecycle`, of a share: what to do with its scan for file lifecycle policies, in the same transaction. */
  update(
    name: string,
    options: VolumeOptions,
    { isForced, lifecycle }: { readonly isForced: boolean; readonly lifecycle?: LifecycleChange | undefined },
    actor: string,
  ): Promise<void> {
    const related = lifecycle && {
      check: (db: Db, volume: Volume) => this.#lifecycleOf(volume).checkChange(db, volume, lifecycle),
      apply: (tx: Tx, volume: Volume) => this.#lifecycleOf(volume).changeIn(tx, volume, lifecycle, actor),
    };
    return this.#changes.update(name, options, { isForced, related }, actor);
  }

  /** Of a share: changes one of the names it is exported under. */
  changeExport(name: string, what: ExportChange, exportName: string, actor: string): Promise<void> {
    return this.#changes.changeExport(name, what, exportName, actor);
  }

  changeLifecycleIn(tx: Tx, name: string, change: LifecycleChange, actor: string): void {
    const volume = findVolume(tx, name);
    if (!volume) throw fail('volume_not_found', { id: name });
    this.#lifecycleOf(volume).changeIn(tx, volume, change, actor);
  }

  #lifecycleOf({ kind }: Volume): ShareLifecycle {
    if (kind === 'block') throw badParameter('flcenabled', 'is for file shares: a block volume has no files');
    if (!this.#lifecycle) throw fail('no_file_scans');
    return this.#lifecycle;
  }

  /** The snapshot that a scan for file lifecycle policies reads must not be in a user's way. */
  async interruptScan(name: string): Promise<void> {
    await this.#lifecycle?.interrupt(name);
  }

  protect(name: string, protection: ProtectionChange, actor: string): Promise<void> {
    return this.#changes.protect(name, protection, actor);
  }

  setThresholds(name: string, thresholds: Thresholds, actor: string): Promise<void> {
    return this.#changes.watch(name, thresholds, actor);
  }

  expandBy(name: string, addedBytes: Bytes, actor: string): Promise<void> {
    return this.#changes.expandBy(name, addedBytes, actor);
  }

  /** Makes it so large; smaller is refused. */
  expandTo(name: string, sizeBytes: Bytes, actor: string): Promise<void> {
    return this.#changes.expandTo(name, sizeBytes, actor);
  }

  /** Marks it as being deleted and returns the number of the job that does it; none when it went to the recycle bin. */
  async delete(
    name: string,
    options: { force: boolean; skipBin?: boolean },
    actor: string,
  ): Promise<number | undefined> {
    await this.interruptScan(name);
    return this.#deletion.delete(name, options, actor);
  }

  deleteFromBin(name: string, actor: string): Promise<number> {
    return this.#deletion.deleteFromBin(name, actor);
  }

  /** Brings one back from the recycle bin, under its own name or another. */
  undelete(name: string, newName: string | undefined, actor: string): Promise<void> {
    return this.#deletion.undelete(name, newName, actor);
  }

  /** Deletes what was in the recycle bin for long enough. */
  purge(): Promise<void> {
    return this.#deletion.purge();
  }

  reconcile(): Promise<void> {
    return reconcileVolumes(this.#tools, this.#deletion, this.#dependents);
  }

  startWatching(): void {
    this.shares.startWatching();
    this.#deletion.start();
    this.#watch.start();
  }

  stopWatching(): void {
    this.#deletion.stop();
  }
}
