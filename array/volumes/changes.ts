import { badParameter, capacityText, fail, type Db, type Tx, Locks } from '@granary/kernel';
import { addExport, removeExport, renameExport } from '../shares/export-names.ts';
import { changedOptions, type ShareChange } from '../shares/options.ts';
import { hasNfsClients, updateShareOptions } from '../shares/repository.ts';
import { checkOptions, refuseShareOptions } from '../shares/request.ts';
import { shareOf } from '../shares/rules.ts';
import type { Shares } from '../shares/service.ts';
import type { ArrayTools } from '../tools.ts';
import { MB } from '../units.ts';
import { findVolume, isNameTaken, updateVolume, type VolumeChange, type VolumeRow } from './repository.ts';
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

const exportChanges = {
  rename: { apply: renameExport, did: 'is exported as' },
  add: { apply: addExport, did: 'is exported also as' },
  remove: { apply: removeExport, did: 'is not exported any more as' },
} as const;

export type ExportChange = keyof typeof exportChanges;

type Some<K extends keyof VolumeRow> = { readonly [P in K]?: VolumeRow[P] | undefined };

type Caps = Some<'read_iops_capping' | 'read_mbps_capping' | 'write_iops_capping' | 'write_mbps_capping'>;

export interface ProtectionChange {
  readonly capacityHistory?: number | undefined;
  readonly alertMode?: number | undefined;
  readonly emergencyGb?: number | undefined;
  readonly autoExpand?: boolean | undefined;
  readonly autoExpandByMb?: number | undefined;
  readonly maxCapacityMb?: number | undefined;
}

export type Thresholds = Some<
  | 'read_iops_limit'
  | 'read_mbps_limit'
  | 'read_latency_limit'
  | 'write_iops_limit'
  | 'write_mbps_limit'
  | 'write_latency_limit'
>;

/** Changes of volumes that are there. Those of one volume are made one after the other. */
export class Changes {
  readonly #tools: ArrayTools;
  readonly #shares: Shares;
  readonly #turns = new Locks();

  constructor(tools: ArrayTools, shares: Shares) {
    this.#tools = tools;
    this.#shares = shares;
  }

  async rename(name: string, displayName: string, actor: string): Promise<void> {
    await this.#change(name, actor, (tx, row) => {
      if (displayName === row.display_name) return { change: {}, title: undefined };
      if (isNameTaken(tx, displayName)) throw fail('name_taken', { name: displayName });
      return { change: { display_name: displayName }, title: `${titleOf(row)} was renamed to ${displayName}.` };
    });
  }

  async comment(name: string, comment: string, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, row) => ({
      change: { comment: comment === '' ? null : comment },
      title: `The note on ${titleOf(row)} was ${comment === '' ? 'removed' : 'changed'}.`,
    }));
  }

  async protect(name: string, wanted: ProtectionChange, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, row) => {
      const change = protectionOf(wanted, row);
      checkExpansion({ ...row, ...change });
      return { change, title: `The protection of ${titleOf(row)} was changed.` };
    });
  }

  async watch(name: string, thresholds: Thresholds, actor: string): Promise<void> {
    await this.#change(name, actor, (_tx, row) => ({
      change: given(thresholds),
      title: `The performance thresholds of ${titleOf(row)} were changed.`,
    }));
  }

  /** By so much; the user's way. A mirror keeps its destination as large as its source by itself. */
  expandBy(name: string, bytes: number, actor: string): Promise<void> {
    return this.#turns.run(name, () => {
      const row = this.#ready(name);
      checkNoDestination(row);
      return this.#expand(row, row.size_bytes + bytes, actor);
    });
  }

  expandTo(name: string, sizeBytes: number, actor: string): Promise<void> {
    return this.#turns.run(name, async () => {
      const row = this.#ready(name);
      if (sizeBytes < row.size_bytes)
        throw fail('capacity_refused', { problem: `${titleOf(row)} cannot become smaller.` });
      if (sizeBytes > row.size_bytes) await this.#expand(row, sizeBytes, actor);
    });
  }

  async changeExport(name: string, what: ExportChange, exportName: string, actor: string): Promise<void> {
    const { apply, did } = exportChanges[what];
    await this.#change(name, actor, (tx, row) => {
      apply(tx, name, exportName);
      return { change: {}, title: `${titleOf(row)} ${did} ${exportName}.` };
    });
    await this.#shares.push(name);
  }

  /** What the engine keeps is told to it between two notes, so that a start after a crash tells it again. */
  update(name: string, options: VolumeOptions, isForced: boolean, actor: string): Promise<void> {
    return this.#turns.run(name, async () => {
      const { store, engine } = this.#tools;
      const row = this.#ready(name);
      store.read((db) => this.#checkUpdate(db, row, options, isForced));
      const caps = given(options.caps);
      const reduction = reductionChange(row, options);
      if (reduction) {
        checkUnmoved(row);
        await this.#tellReduction(row, reduction);
      }
      if (row.kind === 'block' && Object.keys(caps).length > 0) await engine.setCaps(name, capsOf({ ...row, ...caps }));
      const { histograms } = options;
      if (histograms !== undefined) await engine.countSizes(name, histograms);
      const change = { ...caps, ...(histograms !== undefined && { mtr_histograms: bit(histograms) }) };
      const share = given(options.share);
      const isShareChanged = row.kind === 'file' && Object.keys(share).length > 0;
      const title = `The options of ${titleOf(row)} were changed.`;
      const isChanged = reduction !== undefined || isShareChanged || Object.keys(change).length > 0;
      await this.#change(name, actor, (tx) => {
        // Once more: it may have been attached since.
        checkSmbOnly(tx, row, share);
        if (isShareChanged) updateShareOptions(tx, name, changedOptions(shareOf(tx, name).options, share));
        return { change, title: isChanged ? title : undefined };
      });
      if (isShareChanged) await this.#shares.push(name);
    });
  }

  #checkUpdate(db: Db, row: VolumeRow, { caps, share }: VolumeOptions, isForced: boolean): void {
    if (row.kind === 'block') refuseShareOptions(share);
    else {
      refuseCaps(caps);
      // Its options are those of its source.
      if (Object.keys(given(share)).length > 0) checkNoDestination(row);
      checkOptions(changedOptions(shareOf(db, row.name).options, share));
      checkSmbOnly(db, row, share);
    }
    if (!isForced) checkDetached(db, row, ', or use force=YES');
  }

  async #tellReduction(row: VolumeRow, reduction: Pick<VolumeRow, 'compress' | 'dedupe'>): Promise<void> {
    const { store, engine } = this.#tools;
    const { name, compress, dedupe } = row;
    await store.write((tx) => updateVolume(tx, name, { ...reduction, is_untold: 1 }));
    try {
      await engine.setReduction(name, engineReduction(reduction));
    } catch (error) {
      await store.write((tx) => updateVolume(tx, name, { compress, dedupe, is_untold: 0 }));
      throw error;
    }
    await store.write((tx) => updateVolume(tx, name, { is_untold: 0 }));
  }

  async #expand(row: VolumeRow, sizeBytes: number, actor: string): Promise<void> {
    checkSize(sizeBytes, row.kind);
    checkUnmoved(row);
    if (row.max_capacity_mb !== null && sizeBytes > row.max_capacity_mb * MB) {
      const problem = `${titleOf(row)} may have at most ${capacityText(row.max_capacity_mb * MB)}; raise its maxcapacity first.`;
      throw fail('capacity_refused', { problem });
    }
    // First the engine: a start after a crash takes over what it says.
    await this.#tools.engine.expandVolume(row.name, sizeBytes);
    const title = `${titleOf(row)} was expanded from ${capacityText(row.size_bytes)} to ${capacityText(sizeBytes)}.`;
    await this.#change(row.name, actor, () => ({ change: { size_bytes: sizeBytes }, title }));
  }

  #ready(name: string): VolumeRow {
    const row = this.#tools.store.read((db) => findVolume(db, name));
    if (!row) throw fail('volume_not_found', { id: name });
    checkReady(row);
    return row;
  }

  async #change(
    name: string,
    actor: string,
    work: (tx: Tx, row: VolumeRow) => { change: VolumeChange; title: string | undefined },
  ): Promise<void> {
    const { store, clock, events } = this.#tools;
    await store.write((tx) => {
      const row = findVolume(tx, name);
      if (!row) throw fail('volume_not_found', { id: name });
      checkReady(row);
      const { change, title } = work(tx, row);
      if (title === undefined) return;
      updateVolume(tx, name, { ...change, modified_at: clock.now() });
      events.record(tx, { title, subject: `volume:${name}`, actor });
    });
  }
}

function checkSmbOnly(db: Db, { name }: VolumeRow, { isSmbOnly }: ShareChange): void {
  if (isSmbOnly === true && hasNfsClients(db, name))
    throw badParameter('smbonly', 'must be NO while servers have the share over NFS; detach them first');
}

function protectionOf(wanted: ProtectionChange, row: VolumeRow): VolumeChange {
  return {
    capacity_history: wanted.capacityHistory ?? row.capacity_history,
    alert_mode: wanted.alertMode ?? row.alert_mode,
    emergency_gb: wanted.emergencyGb ?? row.emergency_gb,
    auto_expand: wanted.autoExpand === undefined ? row.auto_expand : bit(wanted.autoExpand),
    auto_expand_by_mb: wanted.autoExpandByMb ?? row.auto_expand_by_mb,
    max_capacity_mb: wanted.maxCapacityMb ?? row.max_capacity_mb,
  };
}

function reductionChange(
  row: VolumeRow,
  { compress, dedupe }: VolumeOptions,
): Pick<VolumeRow, 'compress' | 'dedupe'> | undefined {
  const wanted = {
    compress: compress === undefined ? row.compress : bit(compress),
    dedupe: dedupe === undefined ? row.dedupe : bit(dedupe),
  };
  return wanted.compress === row.compress && wanted.dedupe === row.dedupe ? undefined : wanted;
}

/** Without what is undefined. */
function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function bit(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
