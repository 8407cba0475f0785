export type LifecycleAction = 'archive' | 'expire';

/** What happens to files that meet its criteria. */
export interface LifecyclePolicy {
  readonly name: string;
  readonly displayName: string;
  readonly action: LifecycleAction;
  /** A match expression, as JSON text. */
  readonly criteria: string;
  readonly isEnabled: boolean;
  readonly isDryRun: boolean;
  readonly usesBin: boolean;
  /** Paths; null is everywhere. */
  readonly whitelist: readonly string[] | null;
  readonly blacklist: readonly string[] | null;
  readonly destination: string | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** What a run of a policy on a share came to. */
export interface RunFigures {
  readonly matchedFiles: number;
  readonly matchedBytes: number;
  readonly handledFiles: number;
  readonly handledBytes: number;
  /** Skipped: they were changed meanwhile. */
  readonly changedFiles: number;
  readonly failedFiles: number;
  /** The first failure, or why it did not run. */
  readonly problem: string | null;
  /** The first paths that matched. */
  readonly sample: readonly string[];
}

/** What ties a policy to a share. */
export interface LifecycleRule extends RunFigures {
  readonly name: string;
  readonly policy: string;
  readonly volume: string;
  readonly isPaused: boolean;
  readonly lastRunAt: number | null;
  readonly wasDryRun: boolean;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface RuleInPlace extends LifecycleRule {
  readonly policyDisplayName: string;
  readonly volumeDisplayName: string;
}

/** A policy of a share that runs. */
export interface ActiveRule extends LifecyclePolicy {
  readonly rule: string;
}
