/** How patient a cloud is with its array processes. */
export interface SupervisionLimits {
  readonly readyMsMax: number;
  readonly stopMsMax: number;
  readonly healthEveryMs: number;
  readonly healthMsMax: number;
  readonly healthMissesMax: number;
  /** Wait before the first restart; twice as long before each further one. */
  readonly backoffMs: number;
  readonly crashesMax: number;
  readonly crashWindowMs: number;
  /** Processes that may be starting at the same moment. */
  readonly startsMax: number;
  readonly changeMsMax: number;
}

export const supervisionLimits: SupervisionLimits = {
  readyMsMax: 30_000,
  stopMsMax: 10_000,
  healthEveryMs: 5_000,
  healthMsMax: 3_000,
  healthMissesMax: 3,
  backoffMs: 500,
  crashesMax: 3,
  crashWindowMs: 60_000,
  startsMax: 4,
  changeMsMax: 5_000,
};
