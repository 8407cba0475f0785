import type { SupervisionLimits } from './limits.ts';
import type { SupervisedProcess } from './process.ts';
import type { Timing } from './timing.ts';

type HealthLimits = Pick<SupervisionLimits, 'healthEveryMs' | 'healthMsMax' | 'healthMissesMax'>;

interface HealthOptions {
  readonly process: SupervisedProcess;
  readonly limits: HealthLimits;
  readonly timing: Timing;
  /** Its main thread answered a check. */
  readonly onAnswer: () => Promise<void>;
  /** Its main thread is silent for long, and its data path works; undefined: it answers again. */
  readonly onSilence: (reason: string | undefined) => void;
}

/**
 * Watches a process that serves, over channels that no other process can use: its main thread answers over IPC, and a data path
 * with a thread of its own gives signs of life past the main thread. A process is killed only when both are silent for
 * several checks in a row: who cannot be managed, but serves, goes on serving. Checks are counted and not seconds: a cloud
 * that gets no processor time itself draws no conclusions.
 */
export async function watchHealth(options: HealthOptions, done: AbortSignal): Promise<void> {
  const { process, limits, timing, onAnswer, onSilence } = options;
  let unanswered = 0;
  let silent = 0;
  let pulses = process.pulses;
  while (await timing.pause(limits.healthEveryMs, done)) {
    const answered = await process.check(limits.healthMsMax);
    if (done.aborted) return;
    unanswered = answered ? 0 : unanswered + 1;
    silent = answered || process.pulses !== pulses ? 0 : silent + 1;
    pulses = process.pulses;
    if (silent >= limits.healthMissesMax) {
      process.kill(`neither its management nor its data path gave a sign of life in ${silent} health checks`);
      return;
    }
    const isManaged = unanswered < limits.healthMissesMax;
    onSilence(isManaged ? undefined : 'its management does not answer; its data path works');
    if (answered) await onAnswer();
  }
}
