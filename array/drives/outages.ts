import { fail } from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { conflict, isFailed, isWhole, type Drive } from './drive.ts';
import type { FindGroup } from './group.ts';
import { updateDrive } from './repository.ts';
import type { ArrayDriveService } from './service.ts';

/** Takes drives out of service and puts them back: to rehearse a failure, or to repair one. */
export class DriveOutages {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  readonly #findGroup: FindGroup;

  constructor(tools: ArrayTools, drives: ArrayDriveService, findGroup: FindGroup) {
    this.#tools = tools;
    this.#drives = drives;
    this.#findGroup = findGroup;
  }

  /** On record before it is done: after a crash in between it is done at the next start. */
  takeOffline(id: string, force: boolean, actor: string): Promise<string> {
    const { store, clock, engine, readings } = this.#tools;
    return this.#drives.inTurn(async () => {
      await readings.refresh();
      const drive = await store.write((tx) => {
        const found = this.#drives.named(tx, id);
        const { record: drive } = found;
        if (drive.isOffline) throw conflict(drive, 'is out of service already');
        if (drive.shredJob !== null) throw conflict(drive, 'is being shredded; cancel that first');
        if (drive.isLeaving) throw conflict(drive, 'is being given back to the cloud');
        if (!found.isPresent) throw conflict(drive, 'is absent: the cloud took it away');
        if (!force) this.#refuseIfNeeded(found);
        updateDrive(tx, id, { isOffline: true }, clock.now());
        const title = `Drive ${called(drive)} was taken out of service.`;
        this.#drives.record(tx, drive, { title, actor, severity: 'warning' });
        return found;
      });
      try {
        await partOf(engine, 'hardware').takeDriveOffline(drive.record.uuid);
      } catch (error) {
        await store.write((tx) => updateDrive(tx, id, { isOffline: false }, clock.now()));
        throw error;
      }
      await this.#drives.refreshReadings();
      return id;
    });
  }

  bringOnline(id: string, actor: string): Promise<string> {
    const { store, clock, engine } = this.#tools;
    return this.#drives.inTurn(async () => {
      const drive = this.#drives.get(id);
      if (!drive.isPresent) throw conflict(drive.record, 'is absent: the cloud took it away');
      if (!isFailed(drive)) throw conflict(drive.record, 'is in service already');
      if (drive.record.shredJob !== null)
        throw conflict(drive.record, 'is being shredded; wait for the end, or cancel it');
      await partOf(engine, 'hardware').bringDriveOnline(drive.record.uuid);
      await store.write((tx) => {
        updateDrive(tx, id, { isOffline: false, isFailed: false }, clock.now());
        const title = `Drive ${called(drive.record)} was put back into service.`;
        this.#drives.record(tx, drive.record, { title, actor, severity: 'notice' });
      });
      await this.#drives.refreshReadings();
      return id;
    });
  }

  #refuseIfNeeded(drive: Drive): void {
    const { record } = drive;
    if (record.raidGroup === null || record.role !== 'member' || !isWhole(drive)) return;
    const { raidGroup: groupName } = record;
    const { group, drives } = this.#tools.store.read((db) => ({
      group: this.#findGroup(db, groupName),
      drives: this.#drives.ofGroup(db, groupName),
    }));
    if (!group) return;
    const left = drives.filter(
      (other) => other.record.role === 'member' && other.record.name !== record.name && isWhole(other),
    );
    if (group.width - left.length <= group.toleratedFailures) return;
    throw fail('drive_needed_by_group', {
      id: called(record),
      group: called(group),
      left: left.length,
      width: group.width,
    });
  }
}
