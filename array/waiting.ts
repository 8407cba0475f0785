import { fail, Submitted, type Jobs } from '@granary/kernel';

/**
 * Waits for a job as long as the caller is willing to. Done: the plain answer. Not yet: that the work goes on. Failed:
 * the reason.
 */
export async function answerWhenDone<T>(
  jobs: Jobs,
  jobId: number,
  timeoutSeconds: number,
  answer: () => T,
): Promise<T | Submitted> {
  const job = await jobs.wait(jobId, timeoutSeconds < 0 ? -1 : timeoutSeconds * 1000);
  if (job?.state === 'failed') throw fail('state_conflict', { problem: job.error ?? 'The work failed.' });
  return job === undefined || job.state === 'done' ? answer() : new Submitted();
}
