import { fail, type HostedDrive } from '@granary/kernel';
import type { DriveReport } from '../engine/report.ts';
import { called } from '../wording.ts';
import type { DriveRow } from './repository.ts';

/** A drive of the array: what is on record, what the cloud told of it, and how it does. */
export interface Drive {
  readonly row: DriveRow;
  readonly placed: HostedDrive;
  /** The cloud has it in its place. */
  readonly isPresent: boolean;
  /** As last reported; none when the engine knows nothing of it. */
  readonly state: DriveReport['state'] | undefined;
  /** Percent, while it is being shredded. */
  readonly shredded: number | undefined;
}

export function isFailed({ row, state }: Drive): boolean {
  return row.is_offline === 1 || row.is_failed === 1 || state === 'failed';
}

/** Holds all its data, and serves it. */
export function isWhole(drive: Drive): boolean {
  return drive.isPresent && !isFailed(drive) && drive.state === 'online' && drive.row.replaces === null;
}

export function statusOf(drive: Drive): string {
  const { row, isPresent, state, shredded } = drive;
  if (row.shred_job !== null) return `Shredding ${shredded ?? 0}%`;
  if (!isPresent) return 'Absent';
  if (isFailed(drive)) return 'Failed';
  if (state === 'absent') return 'Absent';
  if (row.raid_group === null) return 'Available';
  return row.replaces !== null || state === 'rebuilding' ? 'Rebuild' : 'Normal';
}

/** Nothing stands on it and nothing is being done with it. */
export function refuseUnlessFree({ row }: Drive): void {
  if (row.raid_group !== null) throw fail('drive_in_use', { id: row.name, by: `RAID group ${row.raid_group}` });
  if (row.is_leaving === 1) throw conflict(row, 'is being given back to the cloud');
  if (row.shred_job !== null) throw conflict(row, 'is being shredded; wait until that is done, or cancel it');
}

/** Free, there, and in order: it can become part of a RAID group. */
export function refuseUnlessUsable(drive: Drive): void {
  refuseUnlessFree(drive);
  refuseIfAway(drive);
  if (isFailed(drive))
    throw conflict(drive.row, 'has failed; put it back into service or shred it first, or take another');
}

export function refuseIfAway({ row, isPresent, state }: Drive): void {
  if (!isPresent) throw conflict(row, 'is absent: the cloud took it away');
  if (row.is_offline === 1) throw conflict(row, 'is out of service; put it back into service first');
  if (state === 'absent') throw conflict(row, 'is absent: it does not answer in its place');
}

export function conflict(row: DriveRow, problem: string): Error {
  return fail('state_conflict', { problem: `Drive ${called(row)} ${problem}.` });
}
