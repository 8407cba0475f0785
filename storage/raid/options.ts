import type { Drive } from '../drive/drive.ts';
import type { OnGroupEvent } from './events.ts';
import type { RaidLevel } from './layout.ts';
import type { ResyncSpeed } from './throttle.ts';

export interface RuntimeOptions {
  readonly onEvent?: OnGroupEvent;
  readonly resyncSpeed?: ResyncSpeed;
  /** Milliseconds that only go up; for tests. */
  readonly clock?: { readonly now: () => number };
  /** How much memory the checksums in use may take, for all members together. */
  readonly checksumCacheBytes?: number;
  /** How long nobody has written to a region when its mark in the write-intent log is taken away. */
  readonly intentIdleMs?: number;
  /** How long a rebuild or resync that found the disk full waits before it tries again. */
  readonly noSpaceRetryMs?: number;
}

export interface CreateOptions extends RuntimeOptions {
  readonly id: string;
  readonly level: RaidLevel;
  readonly stripeBytes?: number;
  readonly members: readonly Drive[];
  readonly spares?: readonly Drive[];
}

export interface OpenOptions extends RuntimeOptions {
  /** Needed only when the drives are of several groups. */
  readonly id?: string;
  readonly drives: readonly Drive[];
  /** What `state().events` last said: drives that have seen less are not taken for the newest there are. */
  readonly minimumEvents?: number;
}
