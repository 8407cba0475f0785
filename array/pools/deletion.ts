import { counted } from '@granary/contract';
import { fail, type Tx, Locks } from '@granary/kernel';
import { isRefusal } from '../engine/errors.ts';
import type { PerformanceService } from '../performance/service.ts';
import { releaseFromPool } from '../raid-groups/repository.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import { removeTagsOf } from '../tags/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { damageOf } from './damage.ts';
import { deletePool, findPool, updatePool } from './repository.ts';
import type { Pool } from './pool.ts';
import type { VolumesInPool } from './volumes-in-pool.ts';

export interface PoolNeighbours {
  readonly raidGroups: RaidGroupService;
  readonly performance: PerformanceService;
  readonly volumes: VolumesInPool;
}

/**
 * Deletes pools: the record is marked, the engine deletes, the record goes. Where the engine refuses, the record is what
 * it was. A damaged pool goes by force only, and then with the volumes in it: no one could delete them any more.
 */
export class PoolDeletion {
  readonly #tools: ArrayTools;
  readonly #raidGroups: RaidGroupService;
  readonly #performance: PerformanceService;
  readonly #volumes: VolumesInPool;
  readonly #turns: Locks;

  constructor(tools: ArrayTools, { raidGroups, performance, volumes }: PoolNeighbours, turns: Locks) {
    this.#tools = tools;
    this.#raidGroups = raidGroups;
    this.#performance = performance;
    this.#volumes = volumes;
    this.#turns = turns;
  }

  /** Asked again about a pool whose deletion was cut off, it is done to the end. */
  delete(name: string, isForced: boolean, actor: string): Promise<void> {
    return this.#turns.run(name, async () => {
      const { before, isDamaged } = await this.#tools.store.write((tx) => this.#mark(tx, name, isForced));
      try {
        await this.#finish(before, isDamaged && isForced, actor);
      } catch (error) {
        if (isRefusal(error)) await this.#restore(before);
        throw error;
      }
    });
  }

  /**
   * After a crash: what the engine deletes or has deleted goes; what it refuses stays. A damaged pool that was marked is
   * empty, or was deleted by force; one that has come to itself since is kept if there is anything in it.
   */
  async reconcile(pool: Pool): Promise<void> {
    const groups = this.#raidGroups.ofPool(pool.name).map((group) => group.name);
    // Drives that are out of service were taken out of the engine just now.
    await this.#tools.readings.refresh();
    const isDamaged = damageOf(pool.name, groups, this.#tools.readings) !== undefined;
    try {
      await this.#finish(pool, isDamaged, 'system');
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await this.#restore(pool);
      this.#tools.log.warn({ error, pool: pool.name }, 'a pool whose deletion was cut off is kept');
    }
  }

  /** Off the record, with its volumes. */
  removeRecords(tx: Tx, name: string): void {
    const groups = this.#raidGroups.ofPool(name).map((group) => group.name);
    releaseFromPool(tx, groups, this.#tools.clock.now());
    const removed = this.#volumes.removeAll(tx, name);
    tx.afterCommit(() => {
      for (const volume of removed) {
        this.#tools.readings.removeVolume(volume);
        this.#performance.remove('volume', volume);
      }
    });
    removeTagsOf(tx, 'pool', name);
    deletePool(tx, name);
  }

  /** Returns the row as it was. */
  #mark(tx: Tx, name: string, isForced: boolean): { before: Pool; isDamaged: boolean } {
    const pool = findPool(tx, name);
    if (!pool || pool.state === 'creating') throw fail('pool_not_found', { id: name });
    const groups = this.#raidGroups.ofPool(name).map((group) => group.name);
    const damage = damageOf(name, groups, this.#tools.readings);
    if (damage === undefined) this.#refuseUsed(tx, pool);
    else this.#refuseDamaged(tx, pool, damage, isForced);
    if (this.#volumes.isMigrationTarget(tx, name)) {
      throw fail('pool_migration_target', { id: name });
    }
    updatePool(tx, name, { state: 'deleting', modifiedAt: this.#tools.clock.now() });
    return { before: pool, isDamaged: damage !== undefined };
  }

  #refuseUsed(tx: Tx, { name, shrinkGroup }: Pool): void {
    const count = this.#volumes.count(tx, name);
    if (count > 0) throw fail('pool_not_empty', { id: name, count });
    if (shrinkGroup === null) return;
    throw fail('pool_shrinking', { id: name });
  }

  #refuseDamaged(tx: Tx, { name }: Pool, damage: string, isForced: boolean): void {
    if (isForced) {
      this.#volumes.checkAllDeletable(tx, name);
      return;
    }
    const count = this.#volumes.count(tx, name);
    const along = count === 0 ? '' : ` and its ${counted(count, 'volumes')} with it`;
    throw fail('pool_damaged', { id: name, damage, along });
  }

  async #finish(pool: Pool, isForced: boolean, actor: string): Promise<void> {
    const { store, engine, events } = this.#tools;
    const { name } = pool;
    const shares = store.read((db) => this.#volumes.listShares(db, name));
    for (const share of shares) await engine.removeShare(share);
    await engine.deletePool(name, isForced);
    await store.write((tx) => {
      const count = this.#volumes.count(tx, name);
      this.removeRecords(tx, name);
      const title = `Pool ${called(pool)} was deleted${count === 0 ? '' : ` with the ${counted(count, 'volumes')} in it`}.`;
      events.record(tx, { title, subject: `pool:${name}`, actor, severity: count === 0 ? 'notice' : 'warning' });
    });
    this.#performance.remove('pool', name);
  }

  async #restore(pool: Pool): Promise<void> {
    await this.#tools.store.write((tx) => updatePool(tx, pool.name, { state: 'ready', modifiedAt: pool.modifiedAt }));
  }
}
