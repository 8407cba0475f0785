import { badParameter, fail, type Db, type NewEvent, type Page, type Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import type { Drive } from '../drives/drive.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { IoPoint, PerformanceService } from '../performance/service.ts';
import type { ArrayTools } from '../tools.ts';
import { MB } from '../units.ts';
import { called } from '../wording.ts';
import * as repository from './repository.ts';
import type { RaidGroup, RaidGroupFacts } from './raid-group.ts';
import { freeBytesIn } from './group-space.ts';

interface RaidGroupPage {
  readonly groups: RaidGroupFacts[];
  readonly count: number;
}

/** Drives that keep each other's data. */
export class RaidGroupService {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  readonly #performance: PerformanceService;

  constructor(tools: ArrayTools, drives: ArrayDriveService, performance: PerformanceService) {
    this.#tools = tools;
    this.#drives = drives;
    this.#performance = performance;
  }

  list(page: Page): RaidGroupPage {
    return this.#tools.store.read((db) => ({
      groups: repository.listRaidGroups(db, page).map((group) => this.#describe(group)),
      count: repository.countRaidGroups(db),
    }));
  }

  listFree(page: Page): RaidGroupPage {
    return this.#tools.store.read((db) => ({
      groups: repository.listFreeRaidGroups(db, page).map((group) => this.#describe(group)),
      count: repository.countFreeRaidGroups(db),
    }));
  }

  /** Ready ones; not found: `raid_group_not_found`. */
  get(name: string): RaidGroup {
    return this.#tools.store.read((db) => this.named(db, name));
  }

  named(db: Db, name: string): RaidGroup {
    const group = repository.findRaidGroup(db, name);
    if (group?.state !== 'ready') throw fail('raid_group_not_found', { id: name });
    return group;
  }

  show(name: string): RaidGroupFacts {
    return this.#tools.store.read((db) => this.#describe(this.named(db, name)));
  }

  /** In the order they were made. */
  ofPool(pool: string): RaidGroup[] {
    return this.#tools.store.read((db) => repository.raidGroupsOfPool(db, pool));
  }

  /** What is shown of a pool's groups. */
  describeAll(groups: readonly RaidGroup[]): RaidGroupFacts[] {
    return groups.map((group) => this.#describe(group));
  }

  listDrives(name: string, page: Page): { drives: Drive[]; count: number } {
    this.get(name);
    return this.#drives.listOfGroup(name, page);
  }

  async rename(name: string, newName: string, actor: string): Promise<string> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const group = this.named(tx, name);
      if (group.displayName === newName) return;
      if (repository.isDisplayNameTaken(tx, newName)) throw fail('name_taken', { name: newName });
      repository.updateRaidGroup(tx, name, { displayName: newName }, clock.now());
      this.record(tx, group, { title: `RAID group ${called(group)} was renamed to ${newName}.`, actor });
    });
    return name;
  }

  async setResyncSpeed(name: string, minimum: number, maximum: number, actor: string): Promise<string> {
    const { store, engine, clock } = this.#tools;
    if (minimum > maximum) throw badParameter('min', `must not be above max, ${maximum} MiB/s`);
    this.get(name);
    await partOf(engine, 'hardware').setResyncSpeed(name, { minimum: minimum * MB, maximum: maximum * MB });
    await store.write((tx) => {
      const group = this.named(tx, name);
      repository.updateRaidGroup(tx, name, { minResyncMb: minimum, maxResyncMb: maximum }, clock.now());
      const title = `RAID group ${called(group)} rebuilds and scrubs at ${minimum} to ${maximum} MiB/s.`;
      this.record(tx, group, { title, actor });
    });
    return name;
  }

  points(name: string, intervalSeconds: number): IoPoint[] {
    const { createdAt } = this.get(name);
    return this.#performance.points({ kind: 'raid_group', id: name, createdAt }, intervalSeconds);
  }

  record(tx: Tx, { name }: Pick<RaidGroup, 'name'>, event: Omit<NewEvent, 'subject'>): void {
    this.#tools.events.record(tx, { ...event, subject: `raid_group:${name}` });
  }

  #describe(group: RaidGroup): RaidGroupFacts {
    const { jobs, readings, engine } = this.#tools;
    const isWaiting = group.scrubJob !== null;
    return {
      group,
      report: readings.group(group.name),
      freeBytes: freeBytesIn(group, engine.allocationBytes),
      scrubbed: isWaiting ? (jobs.get(group.scrubJob)?.progress ?? 0) : undefined,
    };
  }
}
