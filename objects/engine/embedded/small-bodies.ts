import { stagingCommit, type IndexCommit, type IndexWriter, type StorageManager } from '@granary/storage/objects';
import type { DriveShare } from '../activity.ts';
import { DriveShares } from './controllers/drive-shares.ts';
import { refuseFull } from './controllers/full-policies.ts';

/** To carry more to this thread would cost more than a shared sync saves. */
const BYTES_MAX = 16 * 1024;
const REPORT_EVERY_MS = 1_000;

interface SmallBodiesOptions {
  readonly manager: Pick<StorageManager, 'stage' | 'activity'>;
  readonly index: Pick<IndexWriter, 'commit'>;
  /** Policies that are nearly full. */
  readonly fullPolicies: () => readonly number[];
  readonly onDriveActivity: (shares: readonly DriveShare[]) => void;
  /** Otherwise controllers put all bodies on the drives themselves. */
  readonly isUsed: boolean;
}

/**
 * Small bodies of all controllers, put on the drives here: those that come at the same moment share a sync of each
 * drive, as their changes share one of the index. Two controllers that did it themselves would sync twice as often.
 */
export class SmallBodies {
  /** None come here where it is 0. */
  readonly bytesMax: number;
  /** For every change that controllers make, with or without a body. */
  readonly commit: IndexCommit;
  readonly #onDriveActivity: SmallBodiesOptions['onDriveActivity'];
  readonly #shares: DriveShares;
  readonly #reporting: NodeJS.Timeout;

  constructor({ manager, index, fullPolicies, onDriveActivity, isUsed }: SmallBodiesOptions) {
    this.bytesMax = isUsed ? BYTES_MAX : 0;
    this.commit = stagingCommit(index, (policy, bytes, options) => {
      refuseFull(fullPolicies(), policy);
      return manager.stage(policy, bytes, options);
    });
    this.#onDriveActivity = onDriveActivity;
    this.#shares = new DriveShares(() => manager.activity());
    this.#reporting = setInterval(() => this.report(), REPORT_EVERY_MS).unref();
  }

  /** Reports what was done on drives since the last report. */
  report(): void {
    const shares = this.#shares.drain();
    if (shares.length > 0) this.#onDriveActivity(shares);
  }

  close(): void {
    clearInterval(this.#reporting);
    this.report();
  }
}
