import type { Db, Tx } from '@granary/kernel';
import { joinGroup, leaveGroup, listDrives, updateDrive } from '../drives/repository.ts';
import type { DriveRecord } from '../drives/record.ts';
import type { ArrayDriveService } from '../drives/service.ts';
import type { Readings } from '../readings/readings.ts';
import type { ArrayTools } from '../tools.ts';
import { called } from '../wording.ts';
import { allRaidGroups } from './repository.ts';

type Difference =
  | { readonly kind: 'joined'; readonly drive: DriveRecord; readonly group: string; readonly role: 'member' | 'spare' }
  | { readonly kind: 'left'; readonly drive: DriveRecord; readonly group: string }
  | { readonly kind: 'failed'; readonly drive: DriveRecord };

/**
 * Drives come and go by themselves: a hot spare takes over, a replacement ends, a drive fails. The engine's report is
 * the truth, and the records follow it.
 */
export class RaidGroupMembership {
  readonly #tools: ArrayTools;
  readonly #drives: ArrayDriveService;
  #following: Promise<void> | undefined;

  constructor(tools: ArrayTools, drives: ArrayDriveService) {
    this.#tools = tools;
    this.#drives = drives;
    // Readers do not wait for the lock here.
    tools.readings.onReading(() => void this.follow());
  }

  /** Resolves when the records are as last reported. Never rejects: the next reading tries again. */
  follow(): Promise<void> {
    const { store, readings, log } = this.#tools;
    if (this.#following) return this.#following;
    if (store.read((db) => differences(db, readings)).length === 0) return Promise.resolve();
    this.#following = this.#follow()
      .catch((error: unknown) => log.error({ error }, 'the drives of RAID groups could not be brought up to date'))
      .finally(() => (this.#following = undefined));
    return this.#following;
  }

  /** What is under way has ended. */
  async idle(): Promise<void> {
    await this.#following;
  }

  /**
   * A reading may be older than the last change: where it differs it is checked again, under the lock and with
   * a reading that begins after that.
   */
  async #follow(): Promise<void> {
    const { store, readings } = this.#tools;
    await this.#drives.inTurn(async () => {
      await readings.refresh();
      await store.write((tx) => {
        for (const difference of differences(tx, readings)) this.#apply(tx, difference);
        this.#drives.removeAbsent(tx);
      });
    });
  }

  #apply(tx: Tx, difference: Difference): void {
    const { events, clock } = this.#tools;
    const { drive } = difference;
    switch (difference.kind) {
      case 'failed':
        updateDrive(tx, drive.name, { isFailed: true }, clock.now());
        return;
      case 'left':
        leaveGroup(tx, drive.name, clock.now());
        events.record(tx, {
          title: `Drive ${called(drive)} is no longer part of RAID group ${difference.group}.`,
          subject: `drive:${drive.name}`,
          severity: 'notice',
        });
        return;
      case 'joined':
        joinGroup(tx, drive.name, difference.group, difference.role, clock.now());
    }
  }
}

function differences(db: Db, readings: Readings): Difference[] {
  const drives = listDrives(db);
  const ready = allRaidGroups(db).filter(({ state }) => state === 'ready');
  const byUuid = new Map(drives.map((drive) => [drive.uuid, drive]));
  const found: Difference[] = [];
  for (const drive of drives)
    if (!drive.isFailed && !drive.isOffline && readings.drive(drive.uuid)?.state === 'failed')
      found.push({ kind: 'failed', drive });
  for (const { name: group } of ready) {
    const report = readings.group(group);
    if (!report) continue;
    const roles = new Map([
      ...report.spares.map((uuid) => [uuid, 'spare'] as const),
      ...report.members.map((uuid) => [uuid, 'member'] as const),
    ]);
    for (const [uuid, role] of roles) {
      const drive = byUuid.get(uuid);
      if (drive && (drive.raidGroup !== group || drive.role !== role))
        found.push({ kind: 'joined', drive, group, role });
    }
    for (const drive of drives)
      if (drive.raidGroup === group && drive.replaces === null && !roles.has(drive.uuid))
        found.push({ kind: 'left', drive, group });
  }
  return found;
}
