import { badParameter, fail, Locks, type Changes, type Page, type Tx } from '@granary/kernel';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { PoolCaches } from './cache.ts';
import { PoolProtection } from './protection.ts';
import { countPools, findPool, findPoolByDisplayName, listPools, updatePool, type PoolChange } from './repository.ts';
import type { Pool } from './pool.ts';
import type { CapacityState } from './capacity-state.ts';
import { damageOf } from './damage.ts';
import { PoolDeletion, type PoolNeighbours } from './deletion.ts';
import { PoolShrinking } from './shrinking.ts';
import { PoolSpace, type NewPoolRequest } from './space.ts';
import type { PoolFacts } from './pool.ts';
import type { VolumesInPool } from './volumes-in-pool.ts';

export interface ExpansionRequest {
  readonly groups?: readonly string[] | undefined;
  readonly capacityMb?: number | undefined;
  readonly destination?: string | undefined;
  readonly cloudGb?: number | undefined;
  /** Encryption at the destination. */
  readonly cloudEncryption?: string | undefined;
}

/** What is left out stays as it is. */
export type ProtectionChange = Changes<
  Pick<
    Pool,
    | 'historyMinutes'
    | 'alertMinutes'
    | 'protectedMinutes'
    | 'emergencyBytes'
    | 'effectiveHistoryMinutes'
    | 'effectiveAlertMinutes'
    | 'effectiveProtectedMinutes'
    | 'effectiveEmergencyBytes'
  >
>;

interface CacheChange {
  readonly cache?: boolean | undefined;
  readonly cowCache?: boolean | undefined;
}

/** The space volumes are cut from. */
export class PoolService {
  readonly #tools: ArrayTools;
  readonly #raidGroups: RaidGroupService;
  readonly #volumes: VolumesInPool;
  readonly #deletion: PoolDeletion;
  readonly #space: PoolSpace;
  readonly #shrinking: PoolShrinking;
  readonly #caches: PoolCaches;
  readonly #protection: PoolProtection;

  constructor(tools: ArrayTools, neighbours: PoolNeighbours) {
    const { raidGroups, volumes } = neighbours;
    const turns = new Locks();
    this.#tools = tools;
    this.#raidGroups = raidGroups;
    this.#volumes = volumes;
    this.#deletion = new PoolDeletion(tools, neighbours, turns);
    this.#space = new PoolSpace(tools, raidGroups, this.#deletion, turns);
    this.#shrinking = new PoolShrinking(tools, raidGroups, turns);
    this.#caches = new PoolCaches(tools);
    this.#protection = new PoolProtection(tools);
  }

  /** Ready ones; not found: `pool_not_found`. */
  get(name: string): Pool {
    return ready(
      this.#tools.store.read((db) => findPool(db, name)),
      name,
    );
  }

  /** In whatever state, with the figures of this moment. */
  async show(name: string): Promise<PoolFacts> {
    await this.#readAnew();
    const pool = this.#tools.store.read((db) => findPool(db, name));
    if (!pool) throw fail('pool_not_found', { id: name });
    return this.#factsOf(pool);
  }

  /** With the figures last read. */
  list(page: Page): { pools: PoolFacts[]; count: number } {
    return this.#tools.store.read((db) => ({
      pools: listPools(db, page).map((pool) => this.#factsOf(pool)),
      count: countPools(db),
    }));
  }

  async create(wanted: NewPoolRequest, actor: string): Promise<Pool> {
    const pool = await this.#space.create(wanted, actor);
    await this.#caches.publish();
    await this.#readAnew();
    return pool;
  }

  /** By force, one that is damaged goes with all that is in it. */
  async delete(name: string, isForced: boolean, actor: string): Promise<void> {
    await this.#readAnew();
    await this.#deletion.delete(name, isForced, actor);
    await this.#caches.publish();
    await this.#readAnew();
  }

  rename(name: string, displayName: string, actor: string): Promise<void> {
    return this.#change(name, (tx, pool) => {
      const other = findPoolByDisplayName(tx, displayName);
      if (other && other.name !== name) throw fail('name_taken', { name: displayName });
      this.#recordEvent(tx, pool, `was renamed to ${displayName}`, actor);
      return { displayName };
    });
  }

  async expand(name: string, wanted: ExpansionRequest, actor: string): Promise<void> {
    const { groups = [], capacityMb, destination, cloudGb, cloudEncryption } = wanted;
    if (destination !== undefined && groups.length > 0) {
      throw badParameter('obsdestname', 'cannot be given together with raid_groups');
    }
    this.get(name);
    const isOfCloud = [destination, cloudGb, cloudEncryption].some((value) => value !== undefined);
    if (isOfCloud) throw fail('no_object_storage_in_pools');
    if (groups.length === 0 && capacityMb === undefined) {
      throw badParameter('raid_groups', 'or capacity has to be given');
    }
    await this.#space.expand(name, { groups: [...new Set(groups)], capacityMb }, actor);
    await this.#readAnew();
    await this.#protection.checkNow(name);
  }

  /** Resolves with the number of the job that does it. */
  async shrink(name: string, group: string | undefined, objectGb: number | undefined, actor: string): Promise<number> {
    this.get(name);
    if (objectGb !== undefined) throw fail('no_object_storage_in_pools');
    if (group === undefined) throw badParameter('raid_group', 'has to be given');
    return this.#shrinking.start(name, group, actor);
  }

  async cancelShrink(name: string, actor: string): Promise<void> {
    await this.#shrinking.cancel(name, actor);
  }

  async setCoolOff(name: string, hours: number, actor: string): Promise<void> {
    await this.#change(name, (tx, pool) => {
      const words = hours === 0 ? 'for as long as there is room' : `for ${hours} hours after its last use`;
      this.#recordEvent(tx, pool, `keeps data in its cache ${words}`, actor);
      return { coolOffHours: hours };
    });
    await this.#caches.publish();
  }

  async setCache(name: string, { cache, cowCache }: CacheChange, actor: string): Promise<void> {
    await this.#change(name, (tx, pool) => {
      const after = { cache: cache ?? pool.cache, cowCache: cowCache ?? pool.cowCache };
      if (after.cache !== pool.cache) this.#recordEvent(tx, pool, `has its cache turned ${onOff(after.cache)}`, actor);
      if (after.cowCache !== pool.cowCache) {
        this.#recordEvent(tx, pool, `has its cache for what snapshots share turned ${onOff(after.cowCache)}`, actor);
      }
      return after;
    });
    await this.#caches.publish();
  }

  async updateProtection(name: string, change: ProtectionChange, actor: string): Promise<void> {
    await this.#change(name, (tx, pool) => {
      this.#recordEvent(tx, pool, 'has new thresholds for running full', actor);
      return change;
    });
    await this.#readAnew();
    await this.#protection.checkNow(name);
  }

  /** Throws `pool_protected` when nothing new may be made in it, `capacity_refused` when there is no room at all. */
  refuseNew(pool: Pool): void {
    this.#protection.refuseNew(pool);
  }

  /** How full it is and when it will be full; undefined where that is not known. */
  capacityState(pool: Pool): CapacityState | undefined {
    return this.#protection.stateOf(pool);
  }

  /** What gives up something in a pool that is nearly full; false when there is nothing to give up. */
  onEmergency(makeRoom: (pool: string) => Promise<boolean>): void {
    this.#protection.onEmergency(makeRoom);
  }

  /** The array may have another size of cache now. */
  followConfiguration(): Promise<void> {
    return this.#caches.publish();
  }

  async reconcile(): Promise<void> {
    await this.#space.reconcile(this.#tools.store.read((db) => listPools(db)));
    await this.#caches.publish();
    await this.#readAnew();
  }

  stopWatching(): Promise<void> {
    return this.#protection.stop();
  }

  #factsOf(pool: Pool): PoolFacts {
    const { store, readings } = this.#tools;
    const groups = this.#raidGroups.ofPool(pool.name).map(({ name }) => name);
    const report = readings.pool(pool.name);
    return {
      pool,
      groups,
      provisionedBytes: store.read((db) => this.#volumes.sumSizes(db, pool.name)),
      report,
      isFailed: damageOf(pool.name, groups, readings) !== undefined,
      shrunk: this.#shrinking.progress(pool),
      allocationBytes: this.#tools.engine.allocationBytes,
    };
  }

  #change(name: string, change: (tx: Tx, pool: Pool) => PoolChange): Promise<void> {
    const { store, clock } = this.#tools;
    return store.write((tx) => {
      const pool = ready(findPool(tx, name), name);
      updatePool(tx, name, { ...change(tx, pool), modifiedAt: clock.now() });
    });
  }

  #recordEvent(tx: Tx, pool: Pool, what: string, actor: string): void {
    this.#tools.events.record(tx, {
      title: `Pool ${called(pool)} ${what}.`,
      subject: `pool:${pool.name}`,
      actor,
    });
  }

  /** What was done is done, even if the figures cannot be read just now. */
  async #readAnew(): Promise<void> {
    try {
      await this.#tools.readings.refresh();
    } catch (error) {
      this.#tools.log.warn({ error }, 'the engine could not be read');
    }
  }
}

function ready(pool: Pool | undefined, name: string): Pool {
  if (pool?.state !== 'ready') throw fail('pool_not_found', { id: name });
  return pool;
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}
