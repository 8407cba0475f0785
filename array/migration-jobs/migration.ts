import type { Bytes } from '@granary/kernel';
import type { Name } from '../sequences/name.ts';

export type MigrationStatus = 'Running' | 'Paused' | 'Completed' | 'Aborted';

/** A move of a volume between pools. What it names is as it was called then. */
export interface Migration {
  readonly name: string;
  readonly volume: Name<'volume'>;
  readonly volumeName: string;
  readonly sourcePoolName: string;
  readonly destinationPoolName: string;
  /** The volume gets another consistency group with its new pool. */
  readonly sourceGroup: Name<'cg'>;
  readonly destinationGroup: Name<'cg'>;
  readonly sourcePool: string;
  readonly destinationPool: string;
  readonly withSnapshots: boolean;
  readonly status: MigrationStatus;
  readonly totalBytes: Bytes;
  readonly copiedBytes: Bytes;
  /** What the snapshot it copies up to is called; null for migrations of before it was listed. */
  readonly workingSnapshot: string | null;
  readonly job: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}
