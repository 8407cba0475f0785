import type { ErrorName } from '@granary/contract/errors';
import { GranaryError } from '../errors.ts';
import { Submitted } from '../http/types.ts';
import type { Jobs } from './jobs.ts';

interface Awaited<T> {
  readonly jobId: number;
  /** Negative: waits until it is done. */
  readonly timeoutSeconds: number;
  readonly answer: () => T;
  /** The error that reports a failure of the work. */
  readonly failure: ErrorName;
}

/**
 * Waits for a job as long as the caller asked for. Done: the plain answer. Not yet: that the work continues. Failed:
 * the reason.
 */
export async function answerWhenDone<T>(jobs: Jobs, awaited: Awaited<T>): Promise<T | Submitted> {
  const { jobId, timeoutSeconds, answer, failure } = awaited;
  const job = await jobs.wait(jobId, timeoutSeconds < 0 ? -1 : timeoutSeconds * 1000);
  if (job?.state === 'failed') throw new GranaryError(failure, job.error ?? 'The work failed.');
  return job === undefined || job.state === 'done' ? answer() : new Submitted();
}
