import { badParameter, bytes, capacityText, fail, Locks, type Bytes, type Db, type Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { addExport, removeExport, renameExport } from '../shares/export-names.ts';
import { changedOptions, type ShareChange } from '../shares/options.ts';
import { updateShareOptions } from '../shares/repository.ts';
import { checkOptions, refuseShareOptions } from '../shares/request.ts';
import { shareOf } from '../shares/rules.ts';
import type { ShareService } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import type { VolumeDependents } from './dependents.ts';
import { findVolume, isNameTaken, updateVolume } from './repository.ts';
import type { VolumeChange, Volume } from './volume.ts';
import {
  capsOf,
  checkDetached,
  checkExpansion,
  checkNoDestination,
  checkReady,
  checkSize,
  checkUnmoved,
  engineReduction,
  refuseCaps,
  titleOf,
} from './rules.ts';

/** What is left out stays as it is. */
export interface VolumeOptions {
  readonly compress?: boolean | undefined;
  readonly dedupe?: boolean | undefined;
  readonly histograms?: boolean | undefined;
  readonly caps: Caps;
  /** Of a share. */
  readonly share: ShareChange;
}

/** A change of records of another resource, in the transaction that changes the volume. */
export interface RelatedChange {
  /** Before the engine is called: throws what `apply` would throw. */
  check(db: Db, volume: Volume): void;
  apply(tx: Tx, volume: Volume): void;
}

const exportChanges = {
  rename: { apply: renameExport, did: 'is exported as' },
  add: { apply: addExport, did: 'is exported also as' },
  remove: { apply: removeExport, did: 'is not exported any more as' },
} as const;

export type ExportChange = keyof typeof exportChanges;

type Some<K extends keyof Volume> = { readonly [P in K]?: Volume[P] | undefined };

type Caps = Some<'readIopsCap' | 'readMbpsCap' | 'writeIopsCap' | 'writeMbpsCap'>;

export type ProtectionChange = Some<
  'historyMinutes' | 'alertMinutes' | 'emergencyBytes' | 'expandsItself' | 'expandByBytes' | 'maxBytes'
>;

export type Thresholds = Some<
  'readIopsLimit' | 'readMbpsLimit' | 'readLatencyLimit' | 'writeIopsLimit' | 'writeMbpsLimit' | 'writeLatencyLimit'
>;

/** Changes of volumes that are there. Those of one volume are made one after the other. */
export class VolumeUpdates {
  readonly #tools: ArrayTools;
  readonly #shares: ShareService;
  readonly #dependents: VolumeDependents;
  readonly #turns = new Locks();

  constructor(tools: ArrayTools, shares: ShareService, dependents: VolumeDependents) {
    this.#tools = tools;
    this.#shares = shares;
    this.#dependents = dependents;
  }

  async rename(name: string, displayName: string, actor: string): Promise<void> {
    await this.#change(name, actor, (tx, volume) => {
      if (displayName === volume.displayName) return { change: {}, title: undefined };
      if (isNameTaken(tx, displayName)) throw fail('name_taken', { name: displayName });
      return { change: { displayName }, title: `${titleOf(volume)} was renamed to ${displayName}.` };
    });
  }

  async comment(name: string, comment: string, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, volume) => ({
      change: { comment: comment === '' ? null : comment },
      title: `The note on ${titleOf(volume)} was ${comment === '' ? 'removed' : 'changed'}.`,
    }));
  }

  async protect(name: string, wanted: ProtectionChange, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, volume) => {
      checkExpansion({ ...volume, ...given(wanted) });
      return { change: wanted, title: `The protection of ${titleOf(volume)} was changed.` };
    });
  }

  async watch(name: string, thresholds: Thresholds, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, volume) => ({
      change: thresholds,
      title: `The performance thresholds of ${titleOf(volume)} were changed.`,
    }));
  }

  /** By so much; the user's way. A mirror keeps its destination as large as its source by itself. */
  expandBy(name: string, addedBytes: Bytes, actor: string): Promise<void> {
    return this.#turns.run(name, () => {
      const volume = this.#ready(name);
      checkNoDestination(volume);
      return this.#expand(volume, bytes(volume.sizeBytes + addedBytes), actor);
    });
  }

  expandTo(name: string, sizeBytes: Bytes, actor: string): Promise<void> {
    return this.#turns.run(name, async () => {
      const volume = this.#ready(name);
      if (sizeBytes < volume.sizeBytes) throw fail('volume_cannot_shrink', { volume: titleOf(volume) });
      if (sizeBytes > volume.sizeBytes) await this.#expand(volume, sizeBytes, actor);
    });
  }

  async changeExport(name: string, what: ExportChange, exportName: string, actor: string): Promise<void> {
    const { apply, did } = exportChanges[what];
    await this.#change(name, actor, (tx, volume) => {
      apply(tx, name, exportName);
      return { change: {}, title: `${titleOf(volume)} ${did} ${exportName}.` };
    });
    await this.#shares.push(name);
  }

  /** State that the engine keeps is sent to it between two records, so that a start after a crash sends it again. */
  update(
    name: string,
    options: VolumeOptions,
    { isForced, related }: { readonly isForced: boolean; readonly related: RelatedChange | undefined },
    actor: string,
  ): Promise<void> {
    return this.#turns.run(name, async () => {
      const { store, engine } = this.#tools;
      const volume = this.#ready(name);
      store.read((db) => {
        this.#checkUpdate(db, volume, options, isForced);
        related?.check(db, volume);
      });
      const caps = given(options.caps);
      const reduction = reductionChange(volume, options);
      if (reduction) {
        checkUnmoved(volume);
        await this.#applyReduction(volume, reduction);
      }
      if (volume.kind === 'block' && Object.keys(caps).length > 0)
        await engine.setCaps(name, capsOf({ ...volume, ...caps }));
      const { histograms } = options;
      if (histograms !== undefined) await engine.countSizes(name, histograms);
      const change = { ...caps, ...(histograms !== undefined && { countsSizes: histograms }) };
      const share = given(options.share);
      const isShareChanged = volume.kind === 'file' && Object.keys(share).length > 0;
      const title = `The options of ${titleOf(volume)} were changed.`;
      const isChanged = reduction !== undefined || isShareChanged || Object.keys(change).length > 0;
      await this.#change(name, actor, (tx, present) => {
        related?.apply(tx, present);
        // Once more: it may have been attached since.
        this.#checkSmbOnly(tx, volume, share);
        if (isShareChanged) updateShareOptions(tx, name, changedOptions(shareOf(tx, name).options, share));
        return { change, title: isChanged ? title : undefined };
      });
      if (isShareChanged) await this.#shares.push(name);
    });
  }

  #checkUpdate(db: Db, volume: Volume, { caps, share }: VolumeOptions, isForced: boolean): void {
    if (volume.kind === 'block') refuseShareOptions(share);
    else {
      refuseCaps(caps);
      // Its options are those of its source.
      if (Object.keys(given(share)).length > 0) checkNoDestination(volume);
      checkOptions(changedOptions(shareOf(db, volume.name).options, share));
      this.#checkSmbOnly(db, volume, share);
    }
    if (isForced) return;
    // Any option: a server may hold on to what it read of the volume when it was attached.
    checkDetached(volume, this.#dependents.listAttachedServers(db, volume.name), ', or use force=YES');
  }

  #checkSmbOnly(db: Db, { name }: Volume, { isSmbOnly }: ShareChange): void {
    if (isSmbOnly === true && this.#dependents.hasNfsClients(db, name))
      throw badParameter('smbonly', 'must be NO while servers have the share over NFS; detach them first');
  }

  async #applyReduction(volume: Volume, reduction: Pick<Volume, 'compress' | 'dedupe'>): Promise<void> {
    const { store, engine } = this.#tools;
    const { name, compress, dedupe } = volume;
    await store.write((tx) => updateVolume(tx, name, { ...reduction, isReductionPending: true }));
    try {
      await partOf(engine, 'reduction').setReduction(name, engineReduction(reduction));
    } catch (error) {
      await store.write((tx) => updateVolume(tx, name, { compress, dedupe, isReductionPending: false }));
      throw error;
    }
    await store.write((tx) => updateVolume(tx, name, { isReductionPending: false }));
  }

  async #expand(volume: Volume, sizeBytes: Bytes, actor: string): Promise<void> {
    checkSize(sizeBytes, volume.kind);
    checkUnmoved(volume);
    if (volume.maxBytes !== null && sizeBytes > volume.maxBytes) {
      throw fail('above_max_capacity', { volume: titleOf(volume), max: capacityText(volume.maxBytes) });
    }
    // First the engine: a start after a crash takes over what it says.
    await this.#tools.engine.expandVolume(volume.name, sizeBytes);
    const title = `${titleOf(volume)} was expanded from ${capacityText(volume.sizeBytes)} to ${capacityText(sizeBytes)}.`;
    await this.#change(volume.name, actor, () => ({ change: { sizeBytes }, title }));
  }

  #ready(name: string): Volume {
    const volume = this.#tools.store.read((db) => findVolume(db, name));
    if (!volume) throw fail('volume_not_found', { id: name });
    checkReady(volume);
    return volume;
  }

  async #change(
    name: string,
    actor: string,
    work: (tx: Tx, volume: Volume) => { change: VolumeChange; title: string | undefined },
  ): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const volume = findVolume(tx, name);
      if (!volume) throw fail('volume_not_found', { id: name });
      checkReady(volume);
      const { change, title } = work(tx, volume);
      if (title === undefined) return;
      updateVolume(tx, name, { ...change, modifiedAt: clock.now() });
      events.record(tx, { title, subject: `volume:${name}`, actor });
    });
  }
}

function reductionChange(
  volume: Volume,
  { compress, dedupe }: VolumeOptions,
): Pick<Volume, 'compress' | 'dedupe'> | undefined {
  const wanted = {
    compress: compress ?? volume.compress,
    dedupe: dedupe ?? volume.dedupe,
  };
  return wanted.compress === volume.compress && wanted.dedupe === volume.dedupe ? undefined : wanted;
}

/** Without what is undefined. */
function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
