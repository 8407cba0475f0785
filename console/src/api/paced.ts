const PAUSES_PER_RUN = 4;
const PAUSE_MS_MAX = 30_000;

/**
 * Runs `work` when asked, one run at a time, and pauses after each for four times as long as it took: work that is asked
 * for all the time takes a fifth of it. What is asked for during a run or a pause is one run after it.
 */
export function paced(work: () => Promise<unknown>): () => void {
  let isBusy = false;
  let isAsked = false;
  const run = async (): Promise<void> => {
    isBusy = true;
    isAsked = false;
    const start = performance.now();
    await work().catch(() => undefined);
    const pause = Math.min((performance.now() - start) * PAUSES_PER_RUN, PAUSE_MS_MAX);
    setTimeout(() => {
      isBusy = false;
      if (isAsked) void run();
    }, pause);
  };
  return () => {
    if (isBusy) isAsked = true;
    else void run();
  };
}
