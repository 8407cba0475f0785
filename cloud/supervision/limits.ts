import { availableParallelism } from 'node:os';

/** How patient a cloud is with its array processes. */
export interface SupervisionLimits {
  /** Processes that start at the same time: more than there are processors only slow each other down. */
  readonly startsMax: number;
  /** How often the cloud looks at a process that starts. */
  readonly startCheckMs: number;
  /** Looks in a row without progress after which the next array may start as well. */
  readonly turnChecksMax: number;
  /** Looks in a row without progress after which a start counts as hanging. */
  readonly stalledChecksMax: number;
  readonly stopMsMax: number;
  readonly healthEveryMs: number;
  /** How long one health check waits for the answer. */
  readonly healthMsMax: number;
  /** Checks in a row without any sign of life after which the process is killed. */
  readonly healthMissesMax: number;
  /** Pause before the first restart; twice as long before each further one. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** Failed starts in a row after which an array that never served is given up. */
  readonly failedStartsMax: number;
  /** A process that served for so long starts the pauses from the beginning. */
  readonly stableMs: number;
  readonly changeMsMax: number;
}

export const supervisionLimits: SupervisionLimits = {
  startsMax: availableParallelism(),
  startCheckMs: 1_000,
  turnChecksMax: 30,
  stalledChecksMax: 300,
  stopMsMax: 10_000,
  healthEveryMs: 5_000,
  healthMsMax: 3_000,
  healthMissesMax: 6,
  backoffMs: 500,
  backoffMsMax: 60_000,
  failedStartsMax: 3,
  stableMs: 60_000,
  changeMsMax: 5_000,
};
