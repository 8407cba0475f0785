import { bytes, capacityText, fail, type Db, type Tx, Locks } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import type { Pool } from '../pools/pool.ts';
import type { PoolService } from '../pools/service.ts';
import { ReservedNames } from '../sequences/names.ts';
import { nextName } from '../sequences/repository.ts';
import type { VolumeEncryption } from '../settings/encryption.ts';
import { exportNameOf, refuseTakenExport, similarExportName } from '../shares/export-names.ts';
import { findShare, insertShare } from '../shares/repository.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import { findUserId } from '../users/repository.ts';
import type { VolumeDependents } from './dependents.ts';
import { newClone, newVolume, type NewShare, type NewVolumeRequest, type Reduced, type Unnamed } from './new-volume.ts';
import { countAllVolumes, deleteVolume, findVolume, insertVolume, isNameTaken, updateVolume } from './repository.ts';
import type { VolumeChange, Volume } from './volume.ts';
import {
  capsOf,
  checkExpansion,
  checkReady,
  checkSize,
  engineReduction,
  isCapped,
  titleOf,
  VOLUMES_MAX,
} from './rules.ts';

/** Part of the transaction that puts a volume on record, or on which it becomes ready. */
export type Alongside = (tx: Tx, name: Volume['name']) => void;

interface Making {
  readonly make: () => Promise<void>;
  readonly keyOf: () => string | null;
  readonly title: string;
  readonly actor: string;
  readonly alongside: Alongside | undefined;
}

interface Neighbours {
  readonly pools: PoolService;
  readonly encryption: VolumeEncryption;
  readonly shares: ShareService;
  readonly dependents: VolumeDependents;
}

/**
 * Makes block volumes: first in the engine, then on record, so that what is on record is there. One that a crash leaves
 * without a record is empty, and goes at the next start. Shares and clones, which hold something from their first moment
 * on, are recorded first: only their record tells one that a crash cut off from one that is in use.
 */
export class VolumeCreation {
  readonly #tools: ArrayTools;
  readonly #pools: PoolService;
  readonly #encryption: VolumeEncryption;
  readonly #shares: ShareService;
  readonly #dependents: VolumeDependents;
  readonly #names: ReservedNames<'volume'>;
  readonly #turns = new Locks();
  /** Volumes that can be created before they are counted again. Counting all for each new one would cost more than writing it. */
  #volumeSlotsLeft = 0;

  constructor(tools: ArrayTools, { pools, encryption, shares, dependents }: Neighbours) {
    this.#tools = tools;
    this.#pools = pools;
    this.#encryption = encryption;
    this.#shares = shares;
    this.#dependents = dependents;
    this.#names = new ReservedNames(tools.store, 'volume');
  }

  /** Those who want the same name take turns: only one of them makes anything. */
  create(wanted: NewVolumeRequest, actor: string, alongside?: Alongside): Promise<Volume> {
    return this.#turns.run(wanted.displayName, async () => {
      const pool = this.#check(wanted);
      const { engine, clock } = this.#tools;
      if (wanted.encrypted) partOf(engine, 'encryption');
      const key = wanted.encrypted ? this.#encryption.newKey() : undefined;
      const draft = newVolume(await this.#names.next(), this.#withReduction(wanted), clock.now());
      const title = `${titleOf(draft)} was created: ${capacityText(draft.sizeBytes)} in pool ${pool.displayName}.`;
      const make = () =>
        engine.createVolume({
          id: draft.name,
          pool: draft.pool,
          sizeBytes: draft.sizeBytes,
          ...engineReduction(draft),
          key,
        });
      // Wrapped in the transaction that keeps it, because the password may have changed since.
      const keyOf = () => (key === undefined ? null : this.#encryption.wrap(key));
      if (wanted.share) return this.#createShare(draft, wanted.share, { make, keyOf, title, actor, alongside });
      await make();
      return this.#insertMade(draft, (tx) => {
        this.#pools.get(draft.pool);
        const volume = this.#insert(tx, draft, keyOf(), actor);
        this.#record(tx, draft, title, actor);
        alongside?.(tx, volume.name);
        return volume;
      });
    });
  }

  async #createShare(
    volume: Unnamed,
    share: NewShare,
    { make, keyOf, title, actor, alongside }: Making,
  ): Promise<Volume> {
    const { store, engine } = this.#tools;
    const { name, displayName } = volume;
    const chosen = share.orSimilar === true ? undefined : exportNameOf(displayName, share.exportName);
    await store.write((tx) => {
      this.#pools.get(volume.pool);
      this.#insert(tx, volume, keyOf(), actor);
      if (chosen !== undefined) refuseTakenExport(tx, chosen);
      const exportName = chosen ?? similarExportName(tx, displayName);
      insertShare(tx, { volume: name, options: share.options, exportNames: [exportName] });
    });
    const format = async () => {
      await make();
      // What a mirror brings has a filesystem already.
      if (volume.mirrorJob === null) await engine.formatShare(name);
      return {};
    };
    return this.#finish(volume, title, actor, format, alongside);
  }

  createClone(
    displayName: string,
    source: Volume,
    snapshot: string,
    actor: string,
    alongside?: Alongside,
  ): Promise<Volume> {
    return this.#turns.run(displayName, async () => {
      const { store, engine, readings, clock } = this.#tools;
      this.#checkNew(displayName, source.pool);
      const name = await this.#names.next();
      const begun = newClone(name, displayName, source, clock.now());
      await store.write((tx) => {
        this.#insert(tx, begun, sourceOf(tx, source).wrappedKey, actor);
        const share = findShare(tx, source.name);
        if (!share) return;
        insertShare(tx, { ...share, volume: name, exportNames: [similarExportName(tx, displayName)] });
        this.#dependents.copyToClone(tx, source.name, name);
      });
      const title = `${titleOf(begun)} was cloned from ${titleOf(source)}.`;
      const clone = async () => {
        await engine.cloneSnapshot(snapshot, name);
        // So that a controller that takes over gets the key, too.
        const { wrappedKey } = store.read((db) => sourceOf(db, source));
        if (wrappedKey !== null && this.#encryption.isActive)
          await partOf(engine, 'encryption').unlockVolume(name, this.#encryption.unwrap(wrappedKey));
        // As large as the volume was when the snapshot was taken, and wherever that was by then.
        const { sizeBytes, pool } = await readings.freshVolume(name);
        return { sizeBytes: bytes(sizeBytes), pool };
      };
      return this.#finish(begun, title, actor, clone, alongside);
    });
  }

  /** Of one that is on record already: once it is made it is ready. */
  async #finish(
    volume: Unnamed,
    title: string,
    actor: string,
    make: () => Promise<VolumeChange>,
    alongside?: Alongside,
  ): Promise<Volume> {
    const { store } = this.#tools;
    const { name } = volume;
    try {
      const change = await make();
      const made = await store.write((tx) => {
        updateVolume(tx, name, { ...change, state: 'ready' });
        this.#record(tx, volume, title, actor);
        alongside?.(tx, name);
        return findVolume(tx, name) as Volume;
      });
      if (made.kind === 'file') await this.#shares.attempt(name);
      return made;
    } catch (error) {
      // If this fails too, the next start sees to it.
      await undoCreation(this.#tools, this.#dependents, name).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Reduction is what the portal switched it to for this array: on for flash arrays unless their owner said no, off for
   * those with disks that turn, where it scatters what could be read in one go. A request that names it overrides the default.
   */
  #withReduction(wanted: NewVolumeRequest): Reduced {
    const { configuration, engine } = this.#tools;
    if (wanted.compress === true || wanted.dedupe === true) partOf(engine, 'reduction');
    const isDefault = configuration().dataReduction && engine.reduction !== undefined;
    return { ...wanted, compress: wanted.compress ?? isDefault, dedupe: wanted.dedupe ?? isDefault };
  }

  #check(wanted: NewVolumeRequest): Pool {
    checkSize(wanted.sizeBytes, wanted.share ? 'file' : 'block');
    checkExpansion({
      sizeBytes: wanted.sizeBytes,
      expandsItself: wanted.expandsItself === true,
      expandByBytes: wanted.expandByBytes ?? null,
      maxBytes: wanted.maxBytes ?? null,
    });
    return this.#checkNew(wanted.displayName, wanted.pool);
  }

  #checkNew(displayName: string, poolName: string): Pool {
    const pool = this.#pools.get(poolName);
    this.#pools.refuseNew(pool);
    this.#tools.store.read((db) => {
      if (isNameTaken(db, displayName)) throw fail('name_taken', { name: displayName });
      this.#checkSlotsLeft(db);
    });
    return pool;
  }

  #checkSlotsLeft(db: Db): void {
    if (this.#volumeSlotsLeft === 0) this.#volumeSlotsLeft = Math.max(VOLUMES_MAX - countAllVolumes(db), 0);
    if (this.#volumeSlotsLeft === 0) throw fail('volumes_limit', { max: VOLUMES_MAX });
    this.#volumeSlotsLeft -= 1;
  }

  async #insertMade(volume: Unnamed, insert: (tx: Tx) => Volume): Promise<Volume> {
    const { store, engine, readings } = this.#tools;
    try {
      if (isCapped(volume)) await engine.setCaps(volume.name, capsOf(volume));
      return await store.write(insert);
    } catch (error) {
      // If this fails too, the next start sees to it.
      await engine.deleteVolume(volume.name).catch(() => undefined);
      readings.removeVolume(volume.name);
      throw error;
    }
  }

  #insert(tx: Tx, volume: Unnamed, wrappedKey: string | null, actor: string): Volume {
    // A volume may have been renamed to this since.
    if (isNameTaken(tx, volume.displayName)) throw fail('name_taken', { name: volume.displayName });
    const consistencyGroup = nextName(tx, 'cg');
    const full: Volume = { ...volume, wrappedKey, consistencyGroup, createdBy: findUserId(tx, actor) };
    insertVolume(tx, full);
    return full;
  }

  #record(tx: Tx, { name }: Unnamed, title: string, actor: string): void {
    this.#tools.events.record(tx, { title, subject: `volume:${name}`, actor });
  }
}

/** As it is now: a change of password may have rewrapped its key. */
function sourceOf(db: Db, { name }: Volume): Volume {
  const volume = findVolume(db, name);
  if (!volume) throw fail('volume_not_found', { id: name });
  checkReady(volume);
  return volume;
}

/** One that was begun and not finished: first its bytes, then its row. */
export async function undoCreation(
  { store, engine, readings }: ArrayTools,
  dependents: VolumeDependents,
  name: string,
): Promise<void> {
  if (store.read((db) => findVolume(db, name))?.kind === 'file') await engine.removeShare(name);
  await engine.deleteVolume(name);
  await store.write((tx) => deleteVolume(tx, name, dependents));
  readings.removeVolume(name);
}
