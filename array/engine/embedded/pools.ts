import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EXTENT_BYTES, Pool, type PoolSetup, type RaidGroup, type SpaceReserve, StorageError } from '@granary/storage';
import type { NewPool, OnEngineEvent, PoolCache } from '../engine.ts';
import type { Work } from '../work.ts';
import type { IoTotals, PoolReport } from '../report.ts';
import { type EngineCatalogue, type PoolRecord, syncFolder } from './engine-catalogue.ts';
import type { EngineGroups } from './groups/groups.ts';
import { reasonOf } from './refused.ts';
import { latenciesOf, NO_IO, NO_LATENCIES } from './reports/totals.ts';

interface PoolsSetup {
  readonly folder: string;
  readonly catalogue: EngineCatalogue;
  readonly groups: EngineGroups;
  readonly onEvent: OnEngineEvent;
  readonly reserve: SpaceReserve;
}

/** One pool. Its metadata may be damaged: then it cannot be used until it is repaired. */
export class EnginePool {
  readonly id: string;
  pool: Pool | undefined;
  /** Of all its volumes, those that are gone too. */
  io: IoTotals = NO_IO;
  latencies = NO_LATENCIES;
  cache: PoolCache | undefined;

  constructor(id: string) {
    this.id = id;
  }

  get open(): Pool {
    if (this.pool) return this.pool;
    throw new StorageError('group-failed', `Pool ${this.id} could not be opened; check the array.`);
  }
}

const FORCE = 'repair that to keep it, or delete it by force';

/** The metadata file of a pool, and the files SQLite keeps beside it. */
const FILES = ['', '-wal', '-shm', '-journal'];

export function poolFile(folder: string, id: string): string {
  return join(folder, 'pools', `${id}.db`);
}

/** The pools of an engine. */
export class EnginePools {
  readonly #setup: PoolsSetup;
  readonly #pools = new Map<string, EnginePool>();

  constructor(setup: PoolsSetup) {
    this.#setup = setup;
    mkdirSync(join(setup.folder, 'pools'), { recursive: true });
  }

  get(id: string): EnginePool {
    const pool = this.#pools.get(id);
    if (pool) return pool;
    throw new StorageError('not-found', `There is no pool ${id}.`);
  }

  all(): IterableIterator<EnginePool> {
    return this.#pools.values();
  }

  async open(onEach: (pool: string) => void = () => undefined): Promise<void> {
    for (const record of [...this.#setup.catalogue.pools.values()]) {
      onEach(record.id);
      if (record.state === 'ready') this.#reopen(record);
      else await this.#remove(record.id);
    }
  }

  async create(wanted: NewPool): Promise<void> {
    const { catalogue, folder, reserve } = this.#setup;
    const { id, mode, capacityBytes } = wanted;
    if (catalogue.pools.get(id)?.state === 'ready') return;
    const groups = wanted.groups.map((group) => this.#freeGroup(group));
    this.#requireRoom(groups, capacityBytes);
    const record: PoolRecord = { id, state: 'creating', mode, groups: [...wanted.groups], capacityBytes };
    await catalogue.putPool(record);
    const entry = new EnginePool(id);
    try {
      this.#removeFiles(id);
      const file = poolFile(folder, id);
      entry.pool = await Pool.create({ id, mode, file, groups, reserve, ...this.#listeners(id) });
      await syncFolder(join(folder, 'pools'));
      entry.pool.setCapacityLimit(capacityBytes);
      await catalogue.putPool({ ...record, state: 'ready' });
      this.#pools.set(id, entry);
    } catch (error) {
      await entry.pool?.close().catch(() => undefined);
      await this.#remove(id).catch(() => undefined);
      throw error;
    }
  }

  /** Throws a `conflict` unless the pool is empty and whole, or not there. */
  requireDeletable(id: string): void {
    const entry = this.#pools.get(id);
    if (!entry) return;
    if (!entry.pool) throw new StorageError('conflict', `The metadata of pool ${id} cannot be read; ${FORCE}.`);
    if (entry.pool.volumes.list().length > 0) {
      throw new StorageError('conflict', `Pool ${id} holds volumes; delete or move them first.`);
    }
    const lost = entry.pool.groups.find((group) => group.isMissing || this.#hasFailed(group.id));
    if (lost) throw new StorageError('conflict', `RAID group ${lost.id} of pool ${id} has failed; ${FORCE}.`);
  }

  /** With all that is in it. Once it is on record as going, nothing keeps it: it is gone at the next start at the latest. */
  async delete(id: string, drop: (entry: EnginePool) => Promise<void>): Promise<void> {
    const { catalogue } = this.#setup;
    const record = catalogue.pools.get(id);
    if (!record) return;
    const entry = this.#pools.get(id);
    await catalogue.putPool({ ...record, state: 'deleting' });
    if (entry) await drop(entry);
    this.#pools.delete(id);
    // What could not be written to drives that are gone is not needed any more.
    await entry?.pool?.close().catch(() => undefined);
    await this.#remove(id);
  }

  /** Throws a `conflict` when the pool cannot record changes now: a group that failed since it was opened refuses. */
  requireRecording({ id, pool }: EnginePool): void {
    const failed = pool?.groups.find((group) => !group.isMissing && this.#hasFailed(group.id));
    if (pool && !failed) return;
    const cause = failed ? `RAID group ${failed.id} of pool ${id} has failed` : `Pool ${id} could not be opened`;
    throw new StorageError('conflict', `${cause}; bring its drives back, or delete the pool by force.`);
  }

  async expand(id: string, groups: readonly string[], capacityBytes: number): Promise<void> {
    const { open: pool } = this.get(id);
    const before = new Set(pool.groups.map((group) => group.id));
    const added = groups.filter((group) => !before.has(group)).map((group) => this.#freeGroup(group));
    const present = [...before].map((group) => this.#setup.groups.get(group).raid).filter((raid) => raid !== undefined);
    if (present.length === before.size) this.#requireRoom([...present, ...added], capacityBytes);
    if (added.length > 0) {
      // On record before anything lies on it: should the pool not open one day, the group does not count as free.
      const all = [...before, ...added.map((group) => group.id)];
      await this.#setup.catalogue.putPool({ ...this.#record(id), groups: all });
    }
    for (const group of added) await pool.addGroup(group);
    await this.#setLimit(id, capacityBytes);
  }

  async shrink(id: string, group: string, capacityBytes: number, work: Work): Promise<void> {
    const { open: pool } = this.get(id);
    if (!pool.groups.some((each) => each.id === group)) return this.#setLimit(id, capacityBytes);
    if (pool.space().usedBytes > capacityBytes) {
      await pool.keepGroup(group);
      throw new StorageError('pool-full', `Pool ${id} holds more than would fit afterwards; delete something first.`);
    }
    // At once: what is written meanwhile has to fit, too.
    pool.setCapacityLimit(capacityBytes);
    try {
      await pool.removeGroup(group, work);
    } catch (error) {
      pool.setCapacityLimit(this.#record(id).capacityBytes);
      throw error;
    }
    await this.#setLimit(id, capacityBytes);
  }

  setCache(id: string, cache: PoolCache): void {
    const entry = this.get(id);
    entry.cache = cache;
    // A pool with damaged metadata must not keep the array from starting.
    if (entry.pool) applyCache(entry.pool, cache);
  }

  /** The pool that uses the group. */
  using(group: string): EnginePool | undefined {
    for (const record of this.#setup.catalogue.pools.values()) {
      const entry = this.#pools.get(record.id);
      const groups = entry?.pool?.groups.map(({ id }) => id) ?? record.groups;
      if (record.state === 'ready' && groups.includes(group)) return entry;
    }
    return undefined;
  }

  /** A group that was missing is there. */
  groupResumed(raid: RaidGroup): void {
    const pool = this.using(raid.id)?.pool;
    if (pool?.groups.some(({ id, isMissing }) => id === raid.id && isMissing) === true) pool.bringGroup(raid);
  }

  reports(): PoolReport[] {
    return [...this.#pools.values()].map((entry) => {
      const { capacityBytes, groups } = this.#record(entry.id);
      if (!entry.pool) return { ...empty, id: entry.id, totalBytes: capacityBytes, groups: [...groups], io: entry.io };
      const { logicalBytes, storedBytes } = entry.pool.reduction();
      return {
        id: entry.id,
        isOpen: true,
        ...entry.pool.space(),
        savedBytes: Math.max(0, logicalBytes - storedBytes),
        chunkShare: entry.pool.chunkShare(),
        groups: entry.pool.groups.map(({ id }) => id),
        cache: entry.pool.cacheStatistics(),
        io: entry.io,
        latencies: latenciesOf(entry.latencies),
      };
    });
  }

  async close(): Promise<void> {
    for (const { id, pool } of this.#pools.values()) {
      // Nothing is lost by it that was promised: what is not on its disks now was never flushed.
      await pool?.close().catch((error: unknown) => this.#onError(id)(error));
    }
  }

  #reopen(record: PoolRecord): void {
    const { folder, groups, reserve } = this.#setup;
    const entry = new EnginePool(record.id);
    this.#pools.set(record.id, entry);
    const present = [...this.#setup.catalogue.groups.keys()].flatMap((id) => {
      const group = groups.find(id);
      // A failed group counts as missing, so that what lies on others can be written.
      return group?.raid && !group.hasFailed() ? [group.raid] : [];
    });
    try {
      const file = poolFile(folder, record.id);
      entry.pool = Pool.open({ file, groups: present, reserve, ...this.#listeners(record.id) });
      entry.pool.setCapacityLimit(record.capacityBytes);
    } catch (error) {
      this.#onError(record.id)(error);
    }
  }

  async #setLimit(id: string, capacityBytes: number): Promise<void> {
    const { open: pool } = this.get(id);
    const groups = pool.groups.map((group) => group.id);
    await this.#setup.catalogue.putPool({ ...this.#record(id), groups, capacityBytes });
    pool.setCapacityLimit(capacityBytes);
  }

  #record(id: string): PoolRecord {
    const record = this.#setup.catalogue.pools.get(id);
    if (record) return record;
    throw new StorageError('not-found', `There is no pool ${id}.`);
  }

  #freeGroup(id: string): RaidGroup {
    const { working } = this.#setup.groups.get(id);
    const user = this.using(id);
    if (user) throw new StorageError('conflict', `RAID group ${id} is in pool ${user.id}; take another one.`);
    return working;
  }

  #requireRoom(groups: readonly RaidGroup[], capacityBytes: number): void {
    const room = groups.reduce((sum, group) => sum + group.capacityBytes, 0);
    if (capacityBytes >= EXTENT_BYTES && capacityBytes <= room) return;
    throw new StorageError('invalid', `The RAID groups have room for ${room} bytes, not for ${capacityBytes}.`);
  }

  #hasFailed(group: string): boolean {
    return this.#setup.groups.find(group)?.hasFailed() !== false;
  }

  #listeners(id: string): Pick<PoolSetup, 'onError' | 'onReduced'> {
    const onReduced = (volume: string): void => this.#setup.onEvent({ type: 'volume-reduced', volume });
    return { onError: this.#onError(id), onReduced };
  }

  #onError(id: string): (error: unknown) => void {
    return (error) => this.#setup.onEvent({ type: 'background-error', pool: id, reason: reasonOf(error) });
  }

  async #remove(id: string): Promise<void> {
    this.#removeFiles(id);
    await syncFolder(join(this.#setup.folder, 'pools'));
    await this.#setup.catalogue.removePool(id);
  }

  #removeFiles(id: string): void {
    const file = poolFile(this.#setup.folder, id);
    for (const ending of FILES) if (existsSync(file + ending)) rmSync(file + ending);
  }
}

function applyCache(pool: Pool, { bytes, keepsSnapshots, coolOffMs }: PoolCache): void {
  pool.setCache({ bytes, keepsForeign: keepsSnapshots, coolOffMs });
}

const empty = {
  isOpen: false,
  usedBytes: 0,
  savedBytes: 0,
  cache: { capacityBytes: 0, usedBytes: 0, hits: 0, misses: 0, writeHits: 0, writeMisses: 0 },
} as const;
