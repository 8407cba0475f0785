import type { Name } from '../sequences/name.ts';

export interface SnapshotPolicy {
  readonly name: Name<'policy'>;
  readonly displayName: string;
  /** A cron expression, or `manual`. */
  readonly schedule: string;
  /** How many snapshots of each volume stay; null is all. */
  readonly keep: number | null;
  readonly keepAtDestination: number | null;
  /** Takes a snapshot even when nothing changed since the last one. */
  readonly createsEmpty: boolean;
  /** New volumes may ask for the default policies. */
  readonly isDefault: boolean;
  /** The user; null is the administrators. */
  readonly createdBy: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface PolicyInUse extends SnapshotPolicy {
  /** How many volumes it is attached to, and for how many of those it is paused. */
  readonly rules: number;
  readonly pausedRules: number;
}

export type RuleApplication = 'user' | 'file_history' | 'mirror';

/** What ties a policy to a volume. */
export interface SnapshotRule {
  readonly name: Name<'rule'>;
  readonly policy: Name<'policy'>;
  readonly volume: string;
  readonly application: RuleApplication;
  readonly mirrorJob: string | null;
  readonly isPaused: boolean;
  /** Up to when its times were looked at. */
  readonly lastRunAt: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface AttachedPolicy extends SnapshotPolicy {
  readonly rule: Name<'rule'>;
  readonly application: RuleApplication;
  readonly mirrorJob: string | null;
  readonly isPaused: boolean;
}
