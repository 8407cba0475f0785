import type { RequestRecord } from '@granary/protocols/objects';

export interface OperationTotals {
  readonly operations: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

export interface DriveActivity {
  readonly put: OperationTotals;
  readonly get: OperationTotals;
  readonly delete: OperationTotals;
}

/** What one thread did on one drive since its last report. */
export interface DriveShare {
  /** Number of the drive, as `EngineDrives` lists it. */
  readonly drive: number;
  readonly activity: DriveActivity;
}

/** What a controller did since its last report. */
export interface Activity {
  readonly requests: readonly RequestRecord[];
  /** Empty for an engine without `EngineDrives`. */
  readonly drives: readonly DriveShare[];
}
