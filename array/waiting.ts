import { answerWhenDone as answer, type Jobs, type Submitted } from '@granary/kernel';

/** Waits for a job of the array as long as the caller is willing to. */
export function answerWhenDone<T>(
  jobs: Jobs,
  jobId: number,
  timeoutSeconds: number,
  answered: () => T,
): Promise<T | Submitted> {
  return answer(jobs, { jobId, timeoutSeconds, answer: answered, failure: 'state_conflict' });
}
