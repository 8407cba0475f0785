import { counted } from '@granary/contract';
import { badParameter, bytes, fail, type Tx } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { refuseUnlessUsable, type Drive } from '../drives/drive.ts';
import { freeDrivesOf, joinGroup } from '../drives/repository.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { Protection } from '../engine/hardware.ts';
import type { PerformanceService } from '../performance/service.ts';
import { nextNumber } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { MB } from '../units.ts';
import { called, listed } from '../wording.ts';
import * as repository from './repository.ts';
import type { RaidGroup } from './raid-group.ts';
import type { RaidGroupScrubbing } from './scrubbing.ts';
import type { RaidGroupService } from './service.ts';
import { shapeOf } from './shape.ts';

interface NewRaidGroup {
  readonly display_name: string;
  readonly protection: Protection;
  readonly disk: readonly string[];
  readonly protection_width?: number | undefined;
  readonly stripe_size: number;
  readonly hot_spare: boolean;
  readonly force: boolean;
}

interface Reserved {
  readonly group: RaidGroup;
  readonly members: readonly Drive[];
  readonly spares: readonly Drive[];
}

interface Parts {
  readonly drives: ArrayDriveService;
  readonly groups: RaidGroupService;
  readonly scrubbing: RaidGroupScrubbing;
  readonly performance: PerformanceService;
}

const GROUPS_MAX = 1000;
const SPEED_MB = { minResyncMb: 10, maxResyncMb: 200 };
const KB = 1024;

/** Makes RAID groups and takes them apart. */
export class RaidGroupBuilding {
  readonly #tools: ArrayTools;
  readonly #parts: Parts;

  constructor(tools: ArrayTools, parts: Parts) {
    this.#tools = tools;
    this.#parts = parts;
  }

  create(input: NewRaidGroup, actor: string): Promise<string> {
    const { store, engine, clock, log } = this.#tools;
    const { drives, groups } = this.#parts;
    const hardware = partOf(engine, 'hardware');
    const twice = input.disk.find((name, index) => input.disk.indexOf(name) !== index);
    if (twice !== undefined) throw badParameter('disk', `names ${twice} twice`);
    return drives.inTurn(async () => {
      const reserved = await store.write((tx) => this.#reserve(tx, input));
      const { group } = reserved;
      try {
        const { capacityBytes } = await hardware.createGroup(engineGroup(reserved));
        await store.write((tx) => {
          repository.updateRaidGroup(
            tx,
            group.name,
            { state: 'ready', capacityBytes: bytes(capacityBytes) },
            clock.now(),
          );
          groups.record(tx, group, { title: titleOf(reserved), actor });
          this.#warnOfNodes(tx, reserved, actor);
        });
      } catch (error) {
        await this.#undo(group.name).catch((again: unknown) => {
          log.error({ error: again, group: group.name }, 'a RAID group is undone at the next start');
        });
        throw error;
      }
      await drives.refreshReadings();
      return group.name;
    });
  }

  async delete(name: string, actor: string): Promise<string> {
    const { store, engine, clock } = this.#tools;
    const { drives, groups, scrubbing, performance } = this.#parts;
    this.#deletable(groups.get(name));
    await scrubbing.stop(name);
    return drives.inTurn(async () => {
      const group = await store.write((tx) => {
        const found = this.#deletable(groups.named(tx, name));
        repository.updateRaidGroup(tx, name, { state: 'deleting' }, clock.now());
        return found;
      });
      try {
        await partOf(engine, 'hardware').deleteGroup(name);
      } catch (error) {
        await store.write((tx) => repository.updateRaidGroup(tx, name, { state: 'ready' }, clock.now()));
        throw error;
      }
      await store.write((tx) => {
        this.#remove(tx, name);
        groups.record(tx, group, { title: `RAID group ${called(group)} was deleted.`, actor, severity: 'notice' });
      });
      performance.remove('raid_group', name);
      await drives.refreshReadings();
      return name;
    });
  }

  /** Ends what a crash cut off, and sends the engine the state it does not keep. */
  async reconcile(): Promise<void> {
    const { store, engine, readings } = this.#tools;
    const raidGroups = store.read(repository.allRaidGroups);
    for (const { name, state } of raidGroups) if (state !== 'ready') await this.#attempt(name, () => this.#undo(name));
    const known = new Set(raidGroups.map(({ name }) => name));
    const pooled = new Set([...readings.pools].flatMap(({ groups }) => groups));
    for (const { id } of readings.groups)
      if (!known.has(id) && !pooled.has(id)) await this.#attempt(id, () => partOf(engine, 'hardware').deleteGroup(id));
    for (const group of raidGroups) if (group.state === 'ready') await this.#applySpeed(group);
  }

  /** One group that cannot be reconciled, perhaps because its drives are gone, is no reason for the others to be down. */
  async #attempt(group: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#tools.log.error({ error, group }, 'a RAID group could not be reconciled');
    }
  }

  async #applySpeed({ name, minResyncMb: minimum, maxResyncMb: maximum }: RaidGroup): Promise<void> {
    const { engine, log } = this.#tools;
    try {
      await partOf(engine, 'hardware').setResyncSpeed(name, { minimum: minimum * MB, maximum: maximum * MB });
    } catch (error) {
      log.warn({ error, group: name }, 'the rebuild speed could not be applied to the engine');
    }
  }

  #deletable(group: RaidGroup): RaidGroup {
    if (group.pool !== null) throw fail('raid_group_in_use', { id: group.name, pool: group.pool });
    const { drives } = this.#parts;
    const replaced = this.#tools.store.read((db) => drives.ofGroup(db, group.name)).find(isReplacement);
    if (replaced) {
      throw fail('group_rebuilding', { group: called(group), id: called(replaced.record) });
    }
    return group;
  }

  #reserve(tx: Tx, input: NewRaidGroup): Reserved {
    const { clock } = this.#tools;
    const { drives: all } = this.#parts;
    if (repository.isDisplayNameTaken(tx, input.display_name)) throw fail('name_taken', { name: input.display_name });
    if (repository.countRaidGroups(tx) >= GROUPS_MAX) throw fail('raid_groups_limit', { max: GROUPS_MAX });
    const drives = input.disk.map((name) => all.named(tx, name));
    const { protection, protection_width: width, hot_spare: hotSpare } = input;
    const { members, spares } = shapeOf({ protection, drives, width, hotSpare });
    for (const drive of drives) refuseUnlessUsable(drive);
    if (!input.force) refuseMixed(drives);
    const memberGb = Math.min(...members.map(({ placed }) => placed.capacityGb));
    for (const spare of spares) refuseSmall(spare, memberGb);
    const number = nextNumber(tx, 'RaidGroup');
    const name = `RaidGroup-${number}`;
    const group = repository.insertRaidGroup(tx, {
      name,
      number,
      displayName: input.display_name,
      protection,
      width: members.length,
      stripeBytes: bytes(input.stripe_size * KB),
      memberGb,
      isSsd: members.every(({ placed }) => placed.medium === 'ssd'),
      ...SPEED_MB,
      createdAt: clock.now(),
    });
    for (const { record } of members) joinGroup(tx, record.name, name, 'member', clock.now());
    for (const { record: spare } of spares) joinGroup(tx, spare.name, name, 'spare', clock.now());
    return { group, members, spares };
  }

  #warnOfNodes(tx: Tx, { group, members }: Reserved, actor: string): void {
    const byNode = Map.groupBy(members, ({ placed }) => placed.node);
    for (const [node, together] of byNode) {
      if (together.length < 2) continue;
      const names = listed(together.map((drive) => called(drive.record)));
      const title = `Drives ${names} of RAID group ${called(group)} are on one storage node, ${node}: when it fails, all of them do.`;
      this.#parts.groups.record(tx, group, { title, actor, severity: 'warning' });
    }
  }

  async #undo(name: string): Promise<void> {
    const { store, engine } = this.#tools;
    await partOf(engine, 'hardware').deleteGroup(name);
    await store.write((tx) => this.#remove(tx, name));
  }

  #remove(tx: Tx, name: string): void {
    freeDrivesOf(tx, name, this.#tools.clock.now());
    repository.deleteRaidGroup(tx, name);
    this.#parts.drives.removeAbsent(tx);
  }
}

function engineGroup({ group, members, spares }: Reserved) {
  return {
    id: group.name,
    protection: group.protection,
    drives: members.map((drive) => drive.record.uuid),
    spares: spares.map((drive) => drive.record.uuid),
    stripeBytes: group.stripeBytes,
    speed: { minimum: group.minResyncMb * MB, maximum: group.maxResyncMb * MB },
  };
}

function isReplacement({ record: drive }: Drive): boolean {
  return drive.replaces !== null;
}

function titleOf({ group, members, spares }: Reserved): string {
  const made = `RAID group ${called(group)} was made: ${group.protection} of ${counted(members.length, 'drives')}`;
  if (spares.length === 0) return `${made}.`;
  return `${made} and ${spares.length === 1 ? 'a hot spare' : `${spares.length} hot spares`}.`;
}

/** Drives of one group should be alike: what the better ones have more is of no use. */
export function refuseMixed(drives: readonly Drive[]): void {
  const sizes = [...new Set(drives.map(({ placed }) => placed.capacityGb))].toSorted((a, b) => a - b);
  if (sizes.length > 1) throw fail('drive_sizes_differ', { sizes: listed(sizes) });
  if (new Set(drives.map(({ placed }) => placed.medium)).size === 1) return;
  throw fail('drive_kinds_mixed');
}

export function refuseSmall({ record: drive, placed }: Drive, memberGb: number): void {
  if (placed.capacityGb >= memberGb) return;
  throw fail('spare_too_small', { id: called(drive), has: placed.capacityGb, needed: memberGb });
}
