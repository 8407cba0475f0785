import type { HostedDrive } from '@granary/kernel';

/** What is on record of a drive. */
export interface DriveRecord {
  readonly name: string;
  readonly displayName: string;
  readonly uuid: string;
  /** What the cloud last reported of it. */
  readonly placed: HostedDrive;
  readonly raidGroup: string | null;
  readonly role: 'member' | 'spare' | null;
  /** Taken out of service by an administrator. */
  readonly isOffline: boolean;
  /** Until it is put back into service or shredded. */
  readonly isFailed: boolean;
  /** It is being given back to the cloud. */
  readonly isLeaving: boolean;
  readonly shredJob: number | null;
  /** The drive whose place it is taking. */
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}
