import { fail, type HostedDrive } from '@granary/kernel';
import type { DriveReport } from '../engine/report.ts';
import { called } from '../wording.ts';
import type { DriveRecord } from './record.ts';

/** A drive of the array: its record, what the cloud reported of it, and its present state. */
export interface Drive {
  readonly record: DriveRecord;
  readonly placed: HostedDrive;
  /** The cloud has it in its place. */
  readonly isPresent: boolean;
  /** As last reported; none when the engine knows nothing of it. */
  readonly state: DriveReport['state'] | undefined;
  /** Percent, while it is being shredded. */
  readonly shredded: number | undefined;
}

export function isFailed({ record: drive, state }: Drive): boolean {
  return drive.isOffline || drive.isFailed || state === 'failed';
}

/** Holds all its data, and serves it. */
export function isWhole(drive: Drive): boolean {
  return drive.isPresent && !isFailed(drive) && drive.state === 'online' && drive.record.replaces === null;
}

export function statusOf(drive: Drive): string {
  const { record, isPresent, state, shredded } = drive;
  if (record.shredJob !== null) return `Shredding ${shredded ?? 0}%`;
  if (!isPresent) return 'Absent';
  if (isFailed(drive)) return 'Failed';
  if (state === 'absent') return 'Absent';
  if (record.raidGroup === null) return 'Available';
  return record.replaces !== null || state === 'rebuilding' ? 'Rebuild' : 'Normal';
}

/** Nothing stands on it and nothing is being done with it. */
export function refuseUnlessFree({ record: drive }: Drive): void {
  if (drive.raidGroup !== null) throw fail('drive_in_use', { id: drive.name, by: `RAID group ${drive.raidGroup}` });
  if (drive.isLeaving) throw conflict(drive, 'is being given back to the cloud');
  if (drive.shredJob !== null) throw conflict(drive, 'is being shredded; wait until that is done, or cancel it');
}

/** Free, there, and in order: it can become part of a RAID group. */
export function refuseUnlessUsable(drive: Drive): void {
  refuseUnlessFree(drive);
  refuseIfAway(drive);
  if (isFailed(drive))
    throw conflict(drive.record, 'has failed; put it back into service or shred it first, or take another');
}

export function refuseIfAway({ record: drive, isPresent, state }: Drive): void {
  if (!isPresent) throw conflict(drive, 'is absent: the cloud took it away');
  if (drive.isOffline) throw conflict(drive, 'is out of service; put it back into service first');
  if (state === 'absent') throw conflict(drive, 'is absent: it does not answer in its place');
}

export function conflict(drive: DriveRecord, problem: string): Error {
  return fail('drive_state', { id: called(drive), problem });
}
