import { createLog, EventLog, Jobs, ManualClock, Store, Vault, type HostedConfiguration } from '@granary/kernel';
import { EXTENT_BYTES } from '@granary/storage/units';
import type { Engine, PoolCache } from '../../engine/engine.ts';
import type { Work } from '../../engine/work.ts';
import type { Hardware } from '../../engine/hardware.ts';
import { EngineError } from '../../engine/errors.ts';
import type { PoolReport } from '../../engine/report.ts';
import { migrations } from '../../migrations.ts';
import { volumesInPool } from '../../relations.ts';
import type { PerformanceService } from '../../performance/service.ts';
import type { RaidGroup } from '../../raid-groups/raid-group.ts';
import { findRaidGroup, raidGroupsOfPool } from '../../raid-groups/repository.ts';
import type { RaidGroupService } from '../../raid-groups/service.ts';
import { Readings } from '../../readings/readings.ts';
import type { ArrayTools } from '../../tools.ts';
import { PoolService } from '../service.ts';

const NO_IO = { reads: { count: 0, bytes: 0, microseconds: 0 }, writes: { count: 0, bytes: 0, microseconds: 0 } };

/** A shrink under way: ends on command, or when it is cancelled. */
export interface FakeShrink {
  readonly group: string;
  readonly work: Work;
  readonly finish: () => void;
  readonly fail: (error: Error) => void;
}

/** Pools over an engine that only records its calls, with a manual clock. */
export interface PoolBench {
  readonly pools: PoolService;
  readonly tools: ArrayTools;
  readonly clock: ManualClock;
  readonly configuration: { cacheGb: number };
  readonly reported: { pool: string; cache: PoolCache }[];
  /** What the engine says it has. */
  readonly reports: Map<string, PoolReport>;
  /** Sets what a pool uses, and publishes a reading. */
  use(pool: string, usedBytes: number, savedBytes?: number): Promise<void>;
  titles(): string[];
  /** Each shrink waits here for its end. */
  readonly shrinks: FakeShrink[];
  /** Another array process over the same database. */
  restart(): PoolBench;
}

/** Pools are made of `group-N`, of `groupBytes` each. */
export function poolBench(
  groupBytes: number | readonly number[],
  store = new Store(':memory:', migrations),
  clock = newClock(),
): PoolBench {
  const log = createLog('array', 'silent');
  const reports = new Map<string, PoolReport>();
  const reported: { pool: string; cache: PoolCache }[] = [];
  const configuration = { cacheGb: 0 };
  const shrinks: FakeShrink[] = [];
  const engine = rememberingEngine(reports, reported, shrinks);
  const readings = new Readings(engine, log);
  const listeners: (() => unknown)[] = [];
  readings.onReading = (listener) => listeners.push(() => listener(readings, clock.now()));
  const events = new EventLog(clock);
  const jobs = new Jobs({ store, clock, log });
  const tools: ArrayTools = {
    ...{ store, clock, log, events, jobs, engine, readings },
    vault: new Vault(Buffer.alloc(32)),
    configuration: () => configuration as HostedConfiguration,
    returnDrive: () => Promise.resolve(),
  };
  const pools = new PoolService(tools, {
    raidGroups: groupsOf(store, groupBytes),
    performance: noPerformance,
    volumes: volumesInPool,
  });
  return {
    ...{ pools, tools, clock, configuration, reported, reports, shrinks },
    async use(pool, usedBytes, savedBytes = 0) {
      reports.set(pool, { ...(reports.get(pool) as PoolReport), usedBytes, savedBytes });
      await readings.refresh();
      for (const listener of listeners) await listener();
    },
    titles: () =>
      store.read((db) => events.list(db, { start: 0, limit: 0 })).messages.map((message) => message.msg_title),
    restart() {
      const next = poolBench(groupBytes, store, clock);
      for (const [id, report] of reports) next.reports.set(id, report);
      return next;
    },
  };
}

const noPerformance = { remove: () => undefined } as unknown as PerformanceService;

function newClock(): ManualClock {
  return new ManualClock('2026-03-01T00:00:00Z');
}

function rememberingEngine(
  reports: Map<string, PoolReport>,
  reported: { pool: string; cache: PoolCache }[],
  shrinks: FakeShrink[],
): Engine {
  const put = (id: string, groups: readonly string[], totalBytes: number): Promise<void> => {
    const cache = { capacityBytes: 0, usedBytes: 0, hits: 0, misses: 0, writeHits: 0, writeMisses: 0 };
    reports.set(id, { id, isOpen: true, groups, totalBytes, usedBytes: 0, savedBytes: 0, cache, io: NO_IO });
    return Promise.resolve();
  };
  const hardware: Pick<Hardware, 'shrinkPool'> = {
    shrinkPool: (id, group, capacityBytes, work) =>
      new Promise<void>((resolve, reject) => {
        const cancelled = (): void => reject(new EngineError('cancelled', 'It was cancelled.'));
        if (work.signal?.aborted === true) {
          cancelled();
          return;
        }
        work.signal?.addEventListener('abort', cancelled);
        const finish = (): void => {
          const groups = reports.get(id)?.groups.filter((each) => each !== group) ?? [];
          void put(id, groups, capacityBytes);
          resolve();
        };
        shrinks.push({ group, work, finish, fail: reject });
      }),
  };
  const engine: Partial<Engine> = {
    allocationBytes: EXTENT_BYTES,
    hardware: hardware as Hardware,
    report: () =>
      Promise.resolve({
        ...{ version: 1, drives: [], groups: [], volumes: [], sessions: [], servers: [], controllers: [] },
        pools: [...reports.values()],
      }),
    createPool: ({ id, groups, capacityBytes }) => put(id, groups, capacityBytes),
    expandPool: (id, groups, bytes) => put(id, [...(reports.get(id)?.groups ?? []), ...groups], bytes),
    deletePool: (id) => {
      reports.delete(id);
      return Promise.resolve();
    },
    setPoolCache: (pool, cache) => {
      reported.push({ pool, cache });
      return Promise.resolve();
    },
  };
  return engine as Engine;
}

/** Stands in for the service: the rows are there as soon as they are asked for. */
function groupsOf(store: Store, sizes: number | readonly number[]): RaidGroupService {
  const ofPool = (pool: string): RaidGroup[] => store.read((db) => raidGroupsOfPool(db, pool));
  const get = (name: string): RaidGroup => {
    const find = (): RaidGroup | undefined => store.read((db) => findRaidGroup(db, name));
    const number = Number(name.split('-')[1]);
    const capacity_bytes = typeof sizes === 'number' ? sizes : (sizes[number - 1] ?? 0);
    store.read((db) =>
      db.all(
        `INSERT OR IGNORE INTO raid_groups (name, number, display_name, protection, width, stripe_kb, capacity_bytes,
           is_ssd, state, min_resync_mb, max_resync_mb, created_at, modified_at)
         VALUES (:name, :number, :name, 'RAID1', 2, 64, :capacity_bytes, 0, 'ready', 1, 1, 0, 0)`,
        { name, number, capacity_bytes },
      ),
    );
    return find() as RaidGroup;
  };
  if (typeof sizes !== 'number') for (const index of sizes.keys()) get(`group-${index + 1}`);
  return { get, ofPool } as unknown as RaidGroupService;
}
