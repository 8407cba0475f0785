import { fail } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { refuseUnlessUsable } from '../drives/drive.ts';
import { drivesOfGroup, findDrive, joinGroup, leaveGroup } from '../drives/repository.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { refuseMixed, refuseSmall } from './building.ts';
import type { RaidGroupService } from './service.ts';
import { SPARES_MAX } from './shape.ts';

/** Gives RAID groups drives that stand by, and takes them back. */
export class HotSpares {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  readonly #groups: RaidGroupService;

  constructor(tools: ArrayTools, drives: ArrayDriveService, groups: RaidGroupService) {
    this.#tools = tools;
    this.#drives = drives;
    this.#groups = groups;
  }

  /** Recorded first, so that it is reserved; the engine uses it at once where a member is missing. */
  add(id: string, disk: string, force: boolean, actor: string): Promise<string> {
    const { store, engine, clock } = this.#tools;
    return this.#drives.inTurn(async () => {
      const group = this.#groups.get(id);
      const drive = await store.write((tx) => {
        this.#groups.named(tx, id);
        const spare = this.#drives.named(tx, disk);
        refuseUnlessUsable(spare);
        const others = this.#drives.ofGroup(tx, id);
        if (others.filter(({ record: drive }) => drive.role === 'spare').length >= SPARES_MAX) {
          throw fail('hot_spares_limit', { group: called(group), max: SPARES_MAX });
        }
        refuseSmall(spare, group.memberGb);
        if (!force) refuseMixed([...others, spare]);
        joinGroup(tx, disk, id, 'spare', clock.now());
        return spare.record;
      });
      try {
        await partOf(engine, 'hardware').addSpare(id, drive.uuid);
      } catch (error) {
        await store.write((tx) => leaveGroup(tx, disk, clock.now()));
        throw error;
      }
      await store.write((tx) => {
        const title = `Drive ${called(drive)} is a hot spare of RAID group ${called(group)} now.`;
        this.#groups.record(tx, group, { title, actor });
      });
      await this.#drives.refreshReadings();
      return id;
    });
  }

  /** The one that was given last, if there are several. */
  remove(id: string, actor: string): Promise<string> {
    const { store, engine, clock } = this.#tools;
    return this.#drives.inTurn(async () => {
      const group = this.#groups.get(id);
      const spare = store
        .read((db) => drivesOfGroup(db, id))
        .filter(({ role }) => role === 'spare')
        .toSorted((a, b) => a.modifiedAt - b.modifiedAt)
        .at(-1);
      if (!spare) throw fail('nothing_to_delete');
      await partOf(engine, 'hardware').removeSpare(id, spare.uuid);
      await store.write((tx) => {
        if (findDrive(tx, spare.name)?.raidGroup === id) leaveGroup(tx, spare.name, clock.now());
        const title = `Drive ${called(spare)} is no hot spare of RAID group ${called(group)} any more.`;
        this.#groups.record(tx, group, { title, actor });
      });
      await this.#drives.refreshReadings();
      return id;
    });
  }
}
