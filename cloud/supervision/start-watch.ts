import type { SupervisionLimits } from './limits.ts';
import type { SupervisedProcess } from './process.ts';
import type { Timing } from './timing.ts';

type StartLimits = Pick<SupervisionLimits, 'startCheckMs' | 'turnChecksMax' | 'stalledChecksMax'>;

interface StartOptions {
  readonly process: SupervisedProcess;
  readonly limits: StartLimits;
  readonly timing: Timing;
  /** It waits for something: another array may use the processor. */
  readonly onWaiting: () => void;
}

/**
 * Resolves with true once the process serves, and with false when it has ended. It may take as long as it needs: it is
 * killed only when it reported no progress for many looks in a row. Looks are counted and not seconds, so that a machine
 * without a processor to spare is no reason to kill.
 */
export async function watchStart({ process, limits, timing, onWaiting }: StartOptions): Promise<boolean> {
  const done = new AbortController();
  try {
    return await Promise.race([process.ready, checkProgress()]);
  } finally {
    done.abort();
  }

  async function checkProgress(): Promise<boolean> {
    let steps = process.steps;
    let looks = 0;
    while (await timing.pause(limits.startCheckMs, done.signal)) {
      looks = process.steps === steps ? looks + 1 : 0;
      steps = process.steps;
      if (looks === limits.turnChecksMax) onWaiting();
      if (looks < limits.stalledChecksMax) continue;
      const seconds = (limits.stalledChecksMax * limits.startCheckMs) / 1000;
      process.kill(`its start made no progress for ${seconds} seconds (${process.stage ?? 'loading its program'})`);
      break;
    }
    return process.ready;
  }
}
