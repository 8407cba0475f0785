import type { HelperJob } from './helper-job.ts';

export type SharedOperation = 'reads' | 'writes';

/** The file of a drive, for a request that a thread executes together with its helper. */
export interface SharedFile {
  readonly fd: number;
  /** Whether the thread itself is expected to take part without waiting for the disk. */
  isFast(nowMs: number): boolean;
  /** The file stays open until every operation that began has ended. */
  begin(operation: SharedOperation): void;
  /** Throws the error of the operation. */
  end(operation: SharedOperation, job: HelperJob, copy: number): void;
}
