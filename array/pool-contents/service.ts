import type { Page } from '@granary/kernel';
import type { PerformanceService, IoPoint } from '../performance/service.ts';
import type { PoolService } from '../pools/service.ts';
import type { RaidGroupService } from '../raid-groups/service.ts';
import type { RaidGroupFacts } from '../raid-groups/raid-group.ts';
import type { ArrayTools } from '../tools.ts';
import { countBinned, listBinned } from '../volumes/listing-repository.ts';
import type { Volume } from '../volumes/volume.ts';
import type { VolumeService } from '../volumes/service.ts';
import type { VolumeView } from '../volumes/view.ts';

interface Found<T> {
  readonly found: T[];
  readonly count: number;
}

interface Neighbours {
  readonly pools: PoolService;
  readonly raidGroups: RaidGroupService;
  readonly volumes: VolumeService;
  readonly performance: PerformanceService;
}

/** What lies below a pool, in it, and passes through it. */
export class PoolContents {
  readonly #tools: ArrayTools;
  readonly #pools: PoolService;
  readonly #raidGroups: RaidGroupService;
  readonly #volumes: VolumeService;
  readonly #performance: PerformanceService;

  constructor(tools: ArrayTools, { pools, raidGroups, volumes, performance }: Neighbours) {
    this.#tools = tools;
    this.#pools = pools;
    this.#raidGroups = raidGroups;
    this.#volumes = volumes;
    this.#performance = performance;
  }

  raidGroups(pool: string, { start, limit }: Page): Found<RaidGroupFacts> {
    this.#pools.get(pool);
    const all = this.#raidGroups.ofPool(pool);
    const groups = limit === 0 ? all.slice(start) : all.slice(start, start + limit);
    return { found: this.#raidGroups.describeAll(groups), count: all.length };
  }

  /** All, or those that mirrors from other arrays write to. */
  volumes(pool: string, page: Page, isDestination = false): Found<VolumeView> {
    this.#pools.get(pool);
    const { volumes: found, count } = this.#volumes.list({ pool, isDestination }, page);
    return { found, count };
  }

  recycleBin(pool: string, page: Page): Found<Volume> {
    this.#pools.get(pool);
    return this.#tools.store.read((db) => ({ found: listBinned(db, pool, page), count: countBinned(db, pool) }));
  }

  performance(pool: string, intervalSeconds: number): IoPoint[] {
    const { createdAt } = this.#pools.get(pool);
    return this.#performance.points({ kind: 'pool', id: pool, createdAt }, intervalSeconds);
  }
}
