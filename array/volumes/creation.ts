import { randomUUID } from 'node:crypto';
import { capacityText, fail, type Db, type Tx, Locks } from '@granary/kernel';
import { recordCreator } from '../creators/repository.ts';
import type { PoolRow } from '../pools/repository.ts';
import type { Pools } from '../pools/service.ts';
import { Names } from '../sequences/names.ts';
import { nextName } from '../sequences/repository.ts';
import type { Encryption } from '../settings/encryption.ts';
import type { ArrayTools } from '../tools.ts';
import {
  countAllVolumes,
  deleteVolumeRow,
  findVolume,
  insertVolume,
  isNameTaken,
  updateVolume,
  type VolumeRow,
} from './repository.ts';
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

export interface NewVolumeRequest {
  readonly displayName: string;
  readonly pool: string;
  readonly sizeBytes: number;
  /** As the array does it with new volumes when left out. */
  readonly compress?: boolean | undefined;
  readonly dedupe?: boolean | undefined;
  readonly encrypted: boolean;
  readonly autoExpand?: boolean;
  readonly autoExpandByMb?: number | undefined;
  readonly maxCapacityMb?: number | undefined;
  readonly readIopsCapping?: number | undefined;
  readonly readMbpsCapping?: number | undefined;
  readonly writeIopsCapping?: number | undefined;
  readonly writeMbpsCapping?: number | undefined;
  /** The mirror it is the destination of. */
  readonly mirrorJob?: string | undefined;
}

type Reduced = NewVolumeRequest & { readonly compress: boolean; readonly dedupe: boolean };
type Unnamed = Omit<VolumeRow, 'cg_name' | 'wrapped_key'>;

/**
 * Makes volumes: first in the engine, then on record, so that what is on record is there. One that a crash leaves
 * without a record is empty, and goes at the next start.
 */
export class Creation {
  readonly #tools: ArrayTools;
  readonly #pools: Pools;
  readonly #encryption: Encryption;
  readonly #names: Names;
  readonly #turns = new Locks();
  /** So many more fit for certain. To count ten thousand rows for each new one would cost more than to write it. */
  #room = 0;

  constructor(tools: ArrayTools, pools: Pools, encryption: Encryption) {
    this.#tools = tools;
    this.#pools = pools;
    this.#encryption = encryption;
    this.#names = new Names(tools.store, 'volume');
  }

  /** Those who want the same name take turns: only one of them makes anything. */
  create(wanted: NewVolumeRequest, actor: string): Promise<VolumeRow> {
    return this.#turns.run(wanted.displayName, async () => {
      const pool = this.#check(wanted);
      const key = wanted.encrypted ? this.#encryption.newKey() : undefined;
      const { engine, clock } = this.#tools;
      const row = newRow(await this.#names.next(), this.#withReduction(wanted), clock.now());
      const reduction = engineReduction(row);
      await engine.createVolume({ id: row.name, pool: row.pool, sizeBytes: row.size_bytes, ...reduction, key });
      return this.#keep(row, actor, (tx) => {
        this.#pools.get(row.pool);
        const title = `${titleOf(row)} was created: ${capacityText(row.size_bytes)} in pool ${pool.display_name}.`;
        this.#record(tx, row, title, actor);
        // Wrapped here, because the password may have changed since.
        return key === undefined ? null : this.#encryption.wrap(key);
      });
    });
  }

  /**
   * On record before it is made: a clone shows data from its first moment on, so after a crash nothing but its row could
   * tell one that was cut off from one that somebody uses.
   */
  createClone(
    displayName: string,
    source: VolumeRow,
    snapshot: string,
    actor: string,
    alongside?: (tx: Tx, name: string) => void,
  ): Promise<VolumeRow> {
    return this.#turns.run(displayName, async () => {
      const { store, engine, readings, clock } = this.#tools;
      this.#checkNew(displayName, source.pool);
      const name = await this.#names.next();
      const begun = cloneRow(name, displayName, source, clock.now());
      await store.write((tx) => this.#insert(tx, begun, sourceOf(tx, source).wrapped_key, actor));
      try {
        await engine.cloneSnapshot(snapshot, name);
        // So that a controller that takes over is told it too.
        const { wrapped_key } = store.read((db) => sourceOf(db, source));
        if (wrapped_key !== null && this.#encryption.isActive)
          await engine.unlockVolume(name, this.#encryption.unwrap(wrapped_key));
        // As large as the volume was when the snapshot was taken, and wherever that was by then.
        const { sizeBytes, pool } = await readings.freshVolume(name);
        return await store.write((tx) => {
          updateVolume(tx, name, { state: 'ready', size_bytes: sizeBytes, pool });
          alongside?.(tx, name);
          this.#record(tx, begun, `${titleOf(begun)} was cloned from ${titleOf(source)}.`, actor);
          return findVolume(tx, name) as VolumeRow;
        });
      } catch (error) {
        // If this fails too, the next start sees to it.
        await undoCreation(this.#tools, name).catch(() => undefined);
        throw error;
      }
    });
  }

  /**
   * Reduction is what the portal switched it to for this array: on for flash arrays unless their owner said no, off for
   * those with disks that turn, where it scatters what could be read in one go. Whoever asks for it gets it anywhere.
   */
  #withReduction(wanted: NewVolumeRequest): Reduced {
    const { dataReduction } = this.#tools.configuration();
    return { ...wanted, compress: wanted.compress ?? dataReduction, dedupe: wanted.dedupe ?? dataReduction };
  }

  #check(wanted: NewVolumeRequest): PoolRow {
    checkSize(wanted.sizeBytes);
    checkExpansion({
      size_bytes: wanted.sizeBytes,
      auto_expand: wanted.autoExpand === true ? 1 : 0,
      auto_expand_by_mb: wanted.autoExpandByMb ?? null,
      max_capacity_mb: wanted.maxCapacityMb ?? null,
    });
    return this.#checkNew(wanted.displayName, wanted.pool);
  }

  #checkNew(displayName: string, poolName: string): PoolRow {
    const pool = this.#pools.get(poolName);
    this.#pools.refuseNew(pool);
    this.#tools.store.read((db) => {
      if (isNameTaken(db, displayName)) throw fail('name_taken', { name: displayName });
      this.#checkRoom(db);
    });
    return pool;
  }

  #checkRoom(db: Db): void {
    if (this.#room === 0) this.#room = Math.max(VOLUMES_MAX - countAllVolumes(db), 0);
    if (this.#room === 0)
      throw fail('limit_reached', { problem: `An array has at most ${VOLUMES_MAX} volumes; delete some first.` });
    this.#room -= 1;
  }

  async #keep(row: Unnamed, actor: string, keyOf: (tx: Tx) => string | null): Promise<VolumeRow> {
    const { store, engine, readings } = this.#tools;
    try {
      if (isCapped(row)) await engine.setCaps(row.name, capsOf(row));
      return await store.write((tx) => this.#insert(tx, row, keyOf(tx), actor));
    } catch (error) {
      // If this fails too, the next start sees to it.
      await engine.deleteVolume(row.name).catch(() => undefined);
      readings.forgetVolume(row.name);
      throw error;
    }
  }

  #insert(tx: Tx, row: Unnamed, wrappedKey: string | null, actor: string): VolumeRow {
    // A volume may have been renamed to this since.
    if (isNameTaken(tx, row.display_name)) throw fail('name_taken', { name: row.display_name });
    const full: VolumeRow = { ...row, wrapped_key: wrappedKey, cg_name: nextName(tx, 'cg') };
    insertVolume(tx, full);
    recordCreator(tx, 'volumes', full.name, actor);
    return full;
  }

  #record(tx: Tx, { name }: Unnamed, title: string, actor: string): void {
    this.#tools.events.record(tx, { title, subject: `volume:${name}`, actor });
  }
}

/** An identifier of the form servers expect of a disk (NAA, type 6), by chance unique. */
function newWwid(): string {
  return `6${randomUUID().replaceAll('-', '').slice(1)}`;
}

function newRow(name: string, wanted: Reduced, now: number): Unnamed {
  return {
    name,
    display_name: wanted.displayName,
    pool: wanted.pool,
    size_bytes: wanted.sizeBytes,
    state: 'ready',
    comment: null,
    compress: wanted.compress ? 1 : 0,
    dedupe: wanted.dedupe ? 1 : 0,
    wwid: newWwid(),
    mirror_job: wanted.mirrorJob ?? null,
    migration: null,
    mtr_histograms: 0,
    capacity_mode: 'normal',
    capacity_history: 60,
    alert_mode: 0,
    emergency_gb: 0,
    auto_expand: wanted.autoExpand === true ? 1 : 0,
    auto_expand_by_mb: wanted.autoExpandByMb ?? null,
    max_capacity_mb: wanted.maxCapacityMb ?? null,
    read_iops_limit: 0,
    read_mbps_limit: 0,
    read_latency_limit: 0,
    write_iops_limit: 0,
    write_mbps_limit: 0,
    write_latency_limit: 0,
    read_iops_capping: wanted.readIopsCapping ?? 0,
    read_mbps_capping: wanted.readMbpsCapping ?? 0,
    write_iops_capping: wanted.writeIopsCapping ?? 0,
    write_mbps_capping: wanted.writeMbpsCapping ?? 0,
    is_untold: 0,
    delete_job: null,
    binned_at: null,
    created_at: now,
    modified_at: now,
  };
}

/** It starts as its source is; what watches and what caps the source are its own affair. */
function cloneRow(name: string, displayName: string, source: VolumeRow, now: number): Unnamed {
  const { pool, size_bytes: sizeBytes, compress, dedupe } = source;
  const like = { displayName, pool, sizeBytes, compress: compress === 1, dedupe: dedupe === 1, encrypted: false };
  return { ...newRow(name, like, now), state: 'creating' };
}

/** As it is now: a change of password may have rewrapped its key. */
function sourceOf(db: Db, { name }: VolumeRow): VolumeRow {
  const row = findVolume(db, name);
  if (!row) throw fail('volume_not_found', { id: name });
  checkReady(row);
  return row;
}

/** One that was begun and not finished: first its bytes, then its row. */
export async function undoCreation({ store, engine, readings }: ArrayTools, name: string): Promise<void> {
  await engine.deleteVolume(name);
  await store.write((tx) => deleteVolumeRow(tx, name));
  readings.forgetVolume(name);
}
