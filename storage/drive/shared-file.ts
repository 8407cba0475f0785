import type { HelperJob } from './helper-job.ts';

export type SharedOperation = 'reads' | 'writes';

/** The file of a drive, for a request that a thread does on it together with its helper. */
export interface SharedFile {
  readonly fd: number;
  /** Whether the thread itself can take part without waiting for the disk, as far as one can tell. */
  isFast(nowMs: number): boolean;
  /** The file stays open until as many have ended as have begun. */
  begin(operation: SharedOperation): void;
  /** Throws what went wrong. */
  end(operation: SharedOperation, job: HelperJob, copy: number): void;
}
