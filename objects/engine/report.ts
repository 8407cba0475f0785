import type { PolicyLayout } from '@granary/storage/object-store';

/** The state of an engine at one point in time. */
export interface EngineReport {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly policies: readonly PolicyReport[];
  /** Index of the policy of new buckets; null while there is none. */
  readonly defaultPolicy: number | null;
}

export interface PolicyReport {
  readonly policy: PolicyLayout;
  /** Whether objects can be written under it. */
  readonly isUsable: boolean;
  /** `degraded`: redundancy is lost. `critical`: one more failure loses data. */
  readonly health: 'normal' | 'degraded' | 'critical';
  readonly usedBytes: number;
  readonly capacity: number;
  /** Absent where the engine places objects by itself and does not say where. */
  readonly placement?: PolicyPlacement;
}

/** Where the partitions of a policy are, and how far they are moved or repaired. */
export interface PolicyPlacement {
  readonly ringVersion: number;
  readonly partitions: {
    readonly total: number;
    readonly normal: number;
    readonly degraded: number;
    readonly critical: number;
  };
  /** Of partitions that have to be moved or repaired, how many are done; null when nothing is under way. */
  readonly rebalance: { readonly done: number; readonly total: number } | null;
  readonly rebalancedAt: number | null;
  /** Numbers of its drives. */
  readonly drives: readonly number[];
}

export interface DriveReport {
  /** Given once: a drive that comes back empty gets a new one. */
  readonly number: number;
  readonly uuid: string;
  readonly policy: number;
  /** `leaving`: its data is being moved away. `absent`: it does not answer. */
  readonly state: 'normal' | 'leaving' | 'absent';
  readonly usedBytes: number;
  readonly capacity: number;
  /** Partitions on it that lack pieces; that cannot lose another one. */
  readonly degraded: number;
  readonly critical: number;
}
