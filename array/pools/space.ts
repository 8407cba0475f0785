import { badParameter, bytes, capacityText, fail, MB, type Bytes, type Tx, Locks } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { addToPool, removeFromPool } from '../raid-groups/repository.ts';
import type { RaidGroup } from '../raid-groups/raid-group.ts';
import type { GroupShare } from '../raid-groups/group-space.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { sharedBytes, shareOut } from './capacity.ts';
import type { PoolDeletion } from './deletion.ts';
import { DEFAULT_EMERGENCY_BYTES, DEFAULT_THRESHOLDS, EMERGENCY_FROM_BYTES } from './defaults.ts';
import { countPools, findPool, findPoolByDisplayName, insertPool, updatePool } from './repository.ts';
import type { Pool } from './pool.ts';

export interface NewPoolRequest {
  readonly displayName: string;
  /** All that the groups hold when left out. */
  readonly capacityMb?: number | undefined;
  readonly groups: readonly string[];
  readonly cache: boolean;
  readonly cowCache: boolean;
  readonly mode: 'simple' | 'stripe';
  readonly type: string;
}

export interface Expansion {
  readonly groups: readonly string[];
  readonly capacityMb?: number | undefined;
}

/** An expansion that is on record. */
interface Growth {
  readonly before: Pool;
  readonly after: Pool;
  readonly shares: readonly GroupShare[];
  /** RAID groups that were in no pool. */
  readonly joining: readonly string[];
}

interface PoolSize {
  readonly shares: readonly GroupShare[];
  readonly capacityBytes: Bytes;
}

const POOLS_MAX = 256;

/** Which RAID groups make a pool, and how much of them it uses: rows and engine, kept in step. */
export class PoolSpace {
  readonly #tools: ArrayTools;
  readonly #raidGroups: RaidGroupService;
  readonly #deletion: PoolDeletion;
  readonly #turns: Locks;

  constructor(tools: ArrayTools, raidGroups: RaidGroupService, deletion: PoolDeletion, turns: Locks) {
    this.#tools = tools;
    this.#raidGroups = raidGroups;
    this.#deletion = deletion;
    this.#turns = turns;
  }

  /** The row claims the groups before the engine is asked: two callers cannot take the same. */
  async create(wanted: NewPoolRequest, actor: string): Promise<Pool> {
    const { store, engine, events, clock } = this.#tools;
    const pool = await store.write((tx) => this.#claim(tx, wanted));
    const { name, mode, capacityBytes } = pool;
    try {
      await engine.createPool({ id: name, mode, groups: [...new Set(wanted.groups)], capacityBytes });
    } catch (error) {
      await this.#attempt(name, () => this.#undo(name));
      throw error;
    }
    const ready: Pool = { ...pool, state: 'ready', modifiedAt: clock.now() };
    await store.write((tx) => {
      updatePool(tx, name, { state: 'ready', modifiedAt: ready.modifiedAt });
      const title = `Pool ${called(pool)} of ${capacityText(capacityBytes)} was created.`;
      events.record(tx, { title, subject: `pool:${name}`, actor });
    });
    return ready;
  }

  expand(name: string, { groups, capacityMb }: Expansion, actor: string): Promise<Pool> {
    return this.#turns.run(name, async () => {
      const { store, engine } = this.#tools;
      const growth = await store.write((tx) => this.#grow(tx, name, { groups, capacityMb }, actor));
      try {
        await engine.expandPool(name, growth.joining, growth.after.capacityBytes);
      } catch (error) {
        await store.write((tx) => this.#ungrow(tx, growth));
        throw error;
      }
      return growth.after;
    });
  }

  /** After a crash: what was being made goes, what was being deleted too, and the engine has what the rows say. */
  async reconcile(pools: readonly Pool[]): Promise<void> {
    for (const pool of pools) await this.#attempt(pool.name, () => this.#reconcileOne(pool));
    const known = new Set<string>(pools.map(({ name }) => name));
    const unknown = [...this.#tools.readings.pools].filter(({ id }) => !known.has(id));
    for (const { id } of unknown) await this.#attempt(id, () => this.#removeUnknown(id));
  }

  #reconcileOne(pool: Pool): Promise<void> {
    if (pool.state === 'creating') return this.#undo(pool.name);
    return pool.state === 'deleting' ? this.#deletion.reconcile(pool) : this.#followRow(pool);
  }

  /** One pool that cannot be reconciled, perhaps because its drives are gone, is no reason for the others to be down. */
  async #attempt(pool: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#tools.log.error({ error, pool }, 'a pool could not be reconciled');
    }
  }

  #claim(tx: Tx, wanted: NewPoolRequest): Pool {
    if (findPoolByDisplayName(tx, wanted.displayName)) throw fail('name_taken', { name: wanted.displayName });
    if (countPools(tx) >= POOLS_MAX) {
      throw fail('pools_limit', { max: POOLS_MAX });
    }
    const groups = this.#freeGroups(wanted.groups);
    const now = this.#tools.clock.now();
    const { shares, capacityBytes } = this.#space(groups, wanted.capacityMb);
    const pool: Pool = {
      name: nextName(tx, 'pool'),
      displayName: wanted.displayName,
      mode: wanted.mode,
      type: wanted.type,
      capacityBytes,
      version: 1,
      state: 'creating',
      cache: wanted.cache,
      cowCache: wanted.cowCache,
      coolOffHours: 0,
      capacityMode: 'normal',
      ...DEFAULT_THRESHOLDS,
      emergencyBytes: capacityBytes >= EMERGENCY_FROM_BYTES ? DEFAULT_EMERGENCY_BYTES : bytes(0),
      shrinkGroup: null,
      shrinkJob: null,
      createdAt: now,
      modifiedAt: now,
    };
    insertPool(tx, pool);
    addToPool(tx, pool.name, shares, now);
    return pool;
  }

  /** What a pool takes of RAID groups. An engine without any gives it what was asked for. */
  #space(groups: readonly RaidGroup[], wantedMb: number | undefined): PoolSize {
    const { engine } = this.#tools;
    if (engine.hardware) {
      if (groups.length === 0) throw badParameter('raid_groups', 'is required');
      const shares = shareOut(groups, wantedMb, engine.allocationBytes);
      return { shares, capacityBytes: bytes(sharedBytes(shares)) };
    }
    if (wantedMb === undefined) throw badParameter('capacity', 'is required');
    return { shares: [], capacityBytes: bytes(wantedMb * MB) };
  }

  #freeGroups(names: readonly string[]): RaidGroup[] {
    if (names.length > 0) partOf(this.#tools.engine, 'hardware');
    return [...new Set(names)].map((name) => {
      const group = this.#raidGroups.get(name);
      if (group.pool !== null) throw fail('raid_group_in_use', { id: name, pool: group.pool });
      return group;
    });
  }

  async #undo(name: string): Promise<void> {
    await this.#tools.engine.deletePool(name);
    await this.#tools.store.write((tx) => this.#deletion.removeRecords(tx, name));
  }

  /** Of the groups that are named, whether they are in the pool or free; of all the pool has when none is. */
  #grow(tx: Tx, name: string, wanted: Expansion, actor: string): Growth {
    const before = findPool(tx, name);
    if (before?.state !== 'ready') throw fail('pool_not_found', { id: name });
    if (before.shrinkGroup !== null) {
      throw fail('pool_shrinking_before_expansion', { id: name });
    }
    const own = this.#raidGroups.ofPool(name);
    const joining = wanted.groups.filter((each) => !own.some((group) => group.name === each));
    const named = own.filter((group) => wanted.groups.includes(group.name));
    const from = wanted.groups.length === 0 ? own : [...named, ...this.#freeGroups(joining)];
    const { shares, capacityBytes: added } = this.#space(from, wanted.capacityMb);
    const now = this.#tools.clock.now();
    const grown = { capacityBytes: bytes(before.capacityBytes + added), modifiedAt: now };
    const after = { ...before, ...grown };
    updatePool(tx, name, grown);
    addToPool(tx, name, shares, now);
    const title = `Pool ${called(before)} was expanded by ${capacityText(added)} to ${capacityText(after.capacityBytes)}.`;
    this.#tools.events.record(tx, { title, subject: `pool:${name}`, actor });
    return { before, after, shares, joining };
  }

  #ungrow(tx: Tx, { before, shares, joining }: Growth): void {
    const { clock, events } = this.#tools;
    const { name, capacityBytes } = before;
    const pool = findPool(tx, name);
    if (pool) updatePool(tx, name, { capacityBytes, modifiedAt: clock.now() });
    removeFromPool(tx, shares, joining, clock.now());
    const title = `Pool ${called(before)} could not be expanded and is as large as before.`;
    events.record(tx, { title, subject: `pool:${name}`, severity: 'warning' });
  }

  /** An expansion may have been cut off between the rows and the engine. A shrink goes on by itself. */
  async #followRow({ name, capacityBytes, shrinkGroup }: Pool): Promise<void> {
    const { engine, readings, log } = this.#tools;
    const report = readings.pool(name);
    if (shrinkGroup !== null) return;
    if (!report) {
      log.error({ pool: name }, 'the engine does not know a pool that is on record');
      return;
    }
    const missing = this.#raidGroups.ofPool(name).filter((group) => !report.groups.includes(group.name));
    if (missing.length === 0 && report.totalBytes === capacityBytes) return;
    await engine.expandPool(
      name,
      missing.map((group) => group.name),
      capacityBytes,
    );
  }

  /** The engine has it, but nothing is on record. */
  async #removeUnknown(pool: string): Promise<void> {
    const { engine, readings, log } = this.#tools;
    const isUsed = [...readings.volumes].some((volume) => volume.pool === pool);
    if (isUsed) log.error({ pool }, 'the engine has a pool with volumes that is not on record; it is kept');
    else await engine.deletePool(pool);
  }
}
