import type { Db, Tx } from '@granary/kernel';
import type { LifecycleFacts } from '../shares/view.ts';
import type { Volume } from './volume.ts';

export type LifecycleChange = 'enable' | 'disable' | 'resume' | 'pause';

/** What file lifecycle reports of shares, and what creating and changing shares calls. */
export interface ShareLifecycle {
  /** The same object until something changes; undefined for a share that is not scanned. */
  factsOf(volume: string): LifecycleFacts | undefined;
  /** Resolves when no scan of it holds a snapshot. One that was at work goes on a moment later, if the share is there. */
  interrupt(volume: string): Promise<void>;
  /** Throws what `changeIn` would throw. */
  checkChange(db: Db, share: Volume, change: LifecycleChange): void;
  changeIn(tx: Tx, share: Volume, change: LifecycleChange, actor: string): void;
}
