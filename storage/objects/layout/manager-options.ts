import type { Reads, Transaction } from '@granary/kernel/sqlite';
import type { Layout } from './layout.ts';
import type { StorageEvent, StorageWorker, WantedDrive, WantedPolicy } from './manager-types.ts';

/** What the storage manager needs of the index: `IndexWriter` has it. */
export interface ManagedIndex {
  change<T>(work: (tx: Transaction) => T): Promise<T>;
  useLayout(layout: Layout, isIn: (db: Reads, drive: number) => boolean): void;
  readonly reader: { readonly db: Reads };
}

export interface StorageManagerOptions {
  readonly index: ManagedIndex;
  /** Threads that repair and compact, each the same object as long as it lives. */
  readonly workers: () => readonly StorageWorker[];
  /** Share of new drives, in percent, that one step of an expansion adds. */
  readonly expansionPercent: () => number;
  readonly onEvent?: (event: StorageEvent) => void;
  /** Background work of the manager failed: it continues at the next tick. */
  readonly onError?: (error: Error) => void;
  readonly now?: () => number;
  /** How often drives are inspected. */
  readonly tickMs?: number;
  /** After this time other drives take over the slots of an absent drive. */
  readonly lostAfterMs?: number;
  /** How long a drive that failed is left alone at first; twice as long each time it fails again soon. */
  readonly retryMs?: number;
  /** For reading every piece once. */
  readonly scrubPeriodMs?: number;
  readonly compactionMs?: number;
  /** How long a segment is left alone after the last write to it. */
  readonly segmentGraceMs?: number;
  /** Goes on with an index that is older than the drives, or not theirs. */
  readonly acceptsAnyIndex?: boolean;
}

/** The drives and policies that the array's configuration names. */
export interface Wanted {
  readonly drives: readonly WantedDrive[];
  readonly policies: readonly WantedPolicy[];
  /** Policy of new buckets; the first one where it is not named. */
  readonly defaultPolicy?: string | null;
}

export type LayoutListener = (layout: Layout) => void | Promise<void>;

/** Times that hold where the options name none, in milliseconds. */
export const DEFAULT_TIMES = {
  tickMs: 1000,
  lostAfterMs: 60_000,
  retryMs: 5000,
  scrubPeriodMs: 14 * 24 * 3600_000,
  compactionMs: 60_000,
  segmentGraceMs: 10 * 60_000,
} as const satisfies Partial<StorageManagerOptions>;
