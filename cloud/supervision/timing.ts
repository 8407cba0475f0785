import { setTimeout as sleep } from 'node:timers/promises';

/** Time as supervision sees it; tests move it by hand. */
export interface Timing {
  /** Milliseconds; only differences mean something. */
  now(): number;
  /** False when it was cut short. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>;
}

export const realTiming: Timing = {
  now: () => performance.now(),
  pause: (ms, signal) =>
    sleep(ms, undefined, { signal }).then(
      () => true,
      () => false,
    ),
};
