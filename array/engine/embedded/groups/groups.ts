import { layOut, type MembershipRecord, RaidGroup, StorageError } from '@granary/storage';
import type { OnEngineEvent } from '../../engine.ts';
import type { NewGroup, ReadMode } from '../../hardware.ts';
import type { GroupReport } from '../../report.ts';
import type { EngineCatalogue, GroupRecord } from '../engine-catalogue.ts';
import type { EngineDrives } from '../drives/drives.ts';
import { GroupEvents } from './group-events.ts';
import { EngineGroup, memberIdsOf, speedOf } from './group.ts';
import { isStorageError } from '../refused.ts';

interface GroupsSetup {
  readonly catalogue: EngineCatalogue;
  readonly drives: EngineDrives;
  readonly onEvent: OnEngineEvent;
  /** A group that was failed or missing works again. */
  readonly onResumed: (group: RaidGroup) => void;
}

/** Used until the rebuild speed is set: an array does so once it is open, and may want it to be slow. */
const DEFAULT_RESYNC_SPEED = { minimumBytesPerSecond: 4 * 2 ** 20, maximumBytesPerSecond: 16 * 2 ** 20 };

/** The RAID groups of an engine. */
export class EngineGroups {
  readonly #setup: GroupsSetup;
  readonly #groups = new Map<string, EngineGroup>();
  #readMode: ReadMode = 'balanced';

  constructor(setup: GroupsSetup) {
    this.#setup = setup;
  }

  get(id: string): EngineGroup {
    const group = this.#groups.get(id);
    if (group) return group;
    throw new StorageError('not-found', `There is no RAID group ${id}.`);
  }

  find(id: string): EngineGroup | undefined {
    return this.#groups.get(id);
  }

  /** Finds all groups on their drives again, and ends what a crash cut off. */
  async open(onEach: (group: string) => void = () => undefined): Promise<void> {
    const { catalogue } = this.#setup;
    for (const record of [...catalogue.groups.values()]) {
      onEach(record.id);
      if (record.state === 'ready') await this.#openFirst(this.#add(record.id), record);
      else await this.#remove(record);
    }
  }

  async create(wanted: NewGroup): Promise<{ capacityBytes: number }> {
    const { catalogue, drives } = this.#setup;
    const { id, protection, stripeBytes } = wanted;
    const known = catalogue.groups.get(id);
    if (known?.state === 'ready') return { capacityBytes: known.capacityBytes };
    this.#requireFree([...wanted.drives, ...wanted.spares]);
    const members = wanted.drives.map((drive) => drives.reachable(drive));
    const spares = wanted.spares.map((drive) => drives.reachable(drive));
    const memberBytes = Math.min(...members.map(({ sizeBytes }) => sizeBytes));
    // First, because it refuses what cannot be.
    const { capacityBytes } = layOut({ level: protection, stripeBytes, memberBytes, memberCount: members.length });
    const names = { members: [...wanted.drives], spares: [...wanted.spares] };
    const record: GroupRecord = { id, state: 'creating', protection, capacityBytes, ...names, events: 0 };
    await catalogue.putGroup(record);
    const group = this.#add(id);
    try {
      for (const drive of [...wanted.drives, ...wanted.spares]) await drives.clear(drive);
      const speed = speedOf(wanted.speed);
      group.setSpeed(wanted.speed);
      const runtime = { ...this.#listeners(group), resyncSpeed: speed };
      group.raid = await RaidGroup.create({ id, level: protection, stripeBytes, members, spares, ...runtime });
      group.raid.setReadMode(this.#readMode);
      await catalogue.putGroup({ ...record, state: 'ready', events: group.raid.state().events });
    } catch (error) {
      await this.#undo(group, record);
      throw error;
    }
    return { capacityBytes };
  }

  /** Of those that are open, and of those that will be. */
  setReadMode(mode: ReadMode): void {
    this.#readMode = mode;
    for (const { raid } of this.#groups.values()) raid?.setReadMode(mode);
  }

  async delete(id: string): Promise<void> {
    const { catalogue } = this.#setup;
    const record = catalogue.groups.get(id);
    if (!record) return;
    const group = this.#groups.get(id);
    const current = { ...record, ...(group?.raid && namesOf(group.raid)) };
    await catalogue.putGroup({ ...current, state: 'deleting' });
    // It is on record as going: what could not be written to drives that are gone is not needed any more.
    await group?.raid?.close().catch(() => undefined);
    await this.#remove(current);
  }

  async replaceDrive(id: string, from: string, to: string): Promise<void> {
    const { working } = this.get(id);
    const state = working.state();
    if (memberIdsOf(state).includes(to)) return;
    const slot = state.members.find(({ driveId }) => driveId === from)?.slot;
    if (slot === undefined) throw new StorageError('not-found', `Drive ${from} is no member of RAID group ${id}.`);
    this.#requireFree([to]);
    await this.#setup.drives.clear(to);
    await working.replace(slot, this.#setup.drives.reachable(to));
  }

  async addSpare(id: string, drive: string): Promise<void> {
    const { working } = this.get(id);
    const state = working.state();
    if (state.spares.includes(drive) || memberIdsOf(state).includes(drive)) return;
    this.#requireFree([drive]);
    await this.#setup.drives.clear(drive);
    await working.addSpare(this.#setup.drives.reachable(drive));
  }

  async removeSpare(id: string, drive: string): Promise<void> {
    const { working } = this.get(id);
    if (!working.state().spares.includes(drive)) return;
    try {
      await working.removeSpare(drive);
    } catch (error) {
      // It is out of the group; that it cannot be cleared now does not matter, for it is before it is used again.
      if (!isStorageError(error, 'drive-failed')) throw error;
    }
  }

  /** The group that a drive belongs to, if any. */
  of(drive: string): EngineGroup | undefined {
    const { catalogue } = this.#setup;
    return [...this.#groups.values()].find(({ id, raid }) => {
      const names = raid ? namesOf(raid) : catalogue.groups.get(id);
      return names?.members.includes(drive) === true || names?.spares.includes(drive) === true;
    });
  }

  /** The drive can be reached again: whichever group it belongs to takes it back. */
  async driveArrived(drive: string): Promise<void> {
    const { drives, catalogue } = this.#setup;
    const id = await drives.groupOnRecord(drive);
    if (id === undefined) return this.#readmit(drive);
    const group = this.#groups.get(id);
    const record = catalogue.groups.get(id);
    if (!group || record?.state !== 'ready') return;
    if (!group.raid) return this.#reopenLater(group, record);
    const wasFailed = group.hasFailed();
    const member = group.raid.state().members.find(({ driveId }) => driveId === drive);
    if (!wasFailed && member?.state !== 'failed') return;
    await this.#rejoin(group.raid, drive);
    if (!wasFailed || group.hasFailed()) return;
    this.#setup.onResumed(group.raid);
    // Those that came before it and could do nothing alone.
    for (const { driveId, state } of group.raid.state().members) {
      if (state === 'failed' && drives.find(driveId)?.drive.isPlugged === true) {
        await this.#rejoin(group.raid, driveId);
      }
    }
  }

  /** Groups that could not be opened are tried again. */
  async retry(): Promise<void> {
    for (const group of this.#groups.values()) {
      const record = this.#setup.catalogue.groups.get(group.id);
      if (!group.raid && record?.state === 'ready') await this.#reopenLater(group, record);
    }
  }

  reports(): GroupReport[] {
    const { catalogue } = this.#setup;
    return [...this.#groups.values()].flatMap((group) => {
      const record = catalogue.groups.get(group.id);
      return record?.state === 'ready' ? [group.report(record)] : [];
    });
  }

  async close(): Promise<void> {
    for (const { raid, events } of this.#groups.values()) {
      await raid?.close();
      events.publishCounts();
    }
  }

  #add(id: string): EngineGroup {
    const group = new EngineGroup(id, new GroupEvents(id, this.#setup.onEvent));
    this.#groups.set(id, group);
    return group;
  }

  /** The drive has no superblock of a group: the group that has it on record as a failed member rebuilds it. */
  async #readmit(drive: string): Promise<void> {
    const group = this.of(drive);
    if (!group?.raid || group.hasFailed() || group.memberState(drive) !== 'failed') return;
    await group.raid.readmit(this.#setup.drives.get(drive).drive);
  }

  async #rejoin(raid: RaidGroup, drive: string): Promise<void> {
    try {
      await raid.returnDrive(this.#setup.drives.get(drive).drive);
    } catch (error) {
      // Too old to go on with alone, or it failed again: the others have to come.
      if (!isStorageError(error, 'conflict', 'drive-failed', 'group-failed')) throw error;
    }
  }

  async #reopenLater(group: EngineGroup, record: GroupRecord): Promise<void> {
    await this.#reopen(group, record);
    if (!group.hasFailed()) this.#setup.onEvent({ type: 'group-resumed', group: group.id });
  }

  async #openFirst(group: EngineGroup, record: GroupRecord): Promise<void> {
    const { onEvent, drives } = this.#setup;
    await this.#reopen(group, record);
    if (group.raid) return;
    const missing = record.members.filter((drive) => drives.find(drive)?.drive.isPlugged !== true);
    onEvent({ type: 'group-failed', group: group.id, drives: missing });
  }

  async #reopen(group: EngineGroup, record: GroupRecord): Promise<void> {
    const { drives } = this.#setup;
    const found: string[] = [];
    for (const { setup } of drives.all()) {
      const named = await drives.groupOnRecord(setup.id);
      // A member without its superblock is rebuilt in its place.
      const isBlank =
        named === undefined && record.members.includes(setup.id) && drives.find(setup.id)?.drive.isPlugged;
      if (named === group.id || isBlank === true) found.push(setup.id);
    }
    const wasKnown = group.raid !== undefined;
    try {
      group.raid = await RaidGroup.open({
        id: group.id,
        drives: found.map((id) => drives.get(id).drive),
        minimumEvents: record.events,
        ...this.#listeners(group),
        resyncSpeed: group.speed ?? DEFAULT_RESYNC_SPEED,
      });
      group.raid.setReadMode(this.#readMode);
      if (!wasKnown && !group.hasFailed()) this.#setup.onResumed(group.raid);
    } catch (error) {
      // None of its drives is there, or only old ones: it is failed until they come.
      if (!isStorageError(error, 'not-found', 'conflict', 'drive-failed', 'no-space', 'group-failed')) throw error;
    }
  }

  #listeners(group: EngineGroup) {
    return {
      onEvent: (event: Parameters<GroupEvents['accept']>[0]) => group.events.accept(event),
      onRecorded: (record: MembershipRecord) => this.#recordMembers(group.id, record),
    };
  }

  async #recordMembers(id: string, { events, members, spares }: MembershipRecord): Promise<void> {
    const { catalogue } = this.#setup;
    const record = catalogue.groups.get(id);
    if (record?.state === 'ready') await catalogue.putGroup({ ...record, events, members, spares });
  }

  #requireFree(wanted: readonly string[]): void {
    for (const [index, drive] of wanted.entries()) {
      const group = this.of(drive);
      if (group) throw new StorageError('conflict', `Drive ${drive} is in RAID group ${group.id}; take another one.`);
      if (wanted.indexOf(drive) !== index) throw new StorageError('invalid', `Drive ${drive} is named twice.`);
      this.#setup.drives.reachable(drive);
    }
  }

  async #undo(group: EngineGroup, record: GroupRecord): Promise<void> {
    await group.raid?.close().catch(() => undefined);
    await this.#remove(record).catch(() => undefined);
  }

  /** Its drives are free afterwards; those that do not answer now are no part of anything when they come back. */
  async #remove({ id, members, spares }: GroupRecord): Promise<void> {
    const { drives, catalogue } = this.#setup;
    for (const drive of [...members, ...spares]) {
      const placed = drives.find(drive);
      if (placed?.drive.isPlugged !== true) continue;
      // Only its own: one that it lost long ago may be in another group by now.
      if ((await drives.groupOnRecord(drive)) === id) await drives.clear(drive).catch(() => undefined);
    }
    this.#groups.get(id)?.events.publishCounts();
    this.#groups.delete(id);
    await catalogue.removeGroup(id);
  }
}

function namesOf(raid: RaidGroup): { members: string[]; spares: string[] } {
  const state = raid.state();
  return { members: memberIdsOf(state), spares: [...state.spares] };
}
