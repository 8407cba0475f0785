import type { Bytes } from '@granary/kernel';
import type { Name } from '../sequences/name.ts';

export type SnapshotApplication = 'user' | 'file_history' | 'mirror' | 'migration' | 'obs_mirror' | 'shadow_copy';

/** What a volume held at a moment. */
export interface Snapshot {
  readonly name: string;
  readonly displayName: string;
  readonly volume: Name<'volume'>;
  /** Of the volume, then. */
  readonly sizeBytes: Bytes;
  readonly application: SnapshotApplication;
  /** The rule that took it; the policy stays when the rule is gone. */
  readonly rule: string | null;
  readonly policy: string | null;
  /** The mirror it was taken for. */
  readonly mirrorJob: string | null;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** With what its volume is called now. */
export interface SnapshotInPlace extends Snapshot {
  readonly consistencyGroup: Name<'cg'>;
  readonly pool: string;
  readonly volumeDisplayName: string;
}
