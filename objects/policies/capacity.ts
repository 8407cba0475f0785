import type { PolicyReport } from '../engine/report.ts';

/** Minutes of growth that the forecast looks at. */
export const CAPACITY_HISTORY_MIN = 60;
/** A policy that will be full within these minutes, if it goes on as it did, is an alert. */
export const ALERT_MODE_MIN = 360;
/** Below this share of free space, in percent, nothing new is written. */
export const EMERGENCY_MODE_PERCENTAGE = 1;

const MS_A_MINUTE = 60_000;
const HISTORY_MS = CAPACITY_HISTORY_MIN * MS_A_MINUTE;

export type CapacityMode = 'normal' | 'alert' | 'emergency';

interface Sample {
  readonly at: number;
  readonly used: number;
}

/** What of these bytes on drives are objects: the rest is further copies of them, or parity. */
export function withoutCopies(
  {
    copies,
    dataFragments,
    parityFragments,
  }: Pick<PolicyReport['policy'], 'copies' | 'dataFragments' | 'parityFragments'>,
  bytes: number,
): number {
  if (copies > 0) return Math.floor(bytes / copies);
  return Math.floor((bytes * dataFragments) / (dataFragments + parityFragments));
}

/** How full each policy has been, minute by minute, and what follows from it. */
export class CapacityForecast {
  readonly #samples = new Map<number, Sample[]>();

  /** More often than once a minute changes nothing. */
  sample(reports: readonly PolicyReport[], now: number): void {
    for (const { policy, usedBytes } of reports) {
      const samples = this.#samples.get(policy.index) ?? [];
      this.#samples.set(policy.index, samples);
      if (now - (samples.at(-1)?.at ?? 0) < MS_A_MINUTE) continue;
      samples.push({ at: now, used: usedBytes });
      // The last one from before the history is its beginning.
      while ((samples[1]?.at ?? now) <= now - HISTORY_MS) samples.shift();
    }
  }

  modeOf(report: PolicyReport, now: number): CapacityMode {
    const free = report.capacity - report.usedBytes;
    if (report.capacity === 0) return 'normal';
    if (free < (report.capacity * EMERGENCY_MODE_PERCENTAGE) / 100) return 'emergency';
    const left = this.#msUntilFull(report, now);
    return left !== undefined && left < ALERT_MODE_MIN * MS_A_MINUTE ? 'alert' : 'normal';
  }

  /** Null while it does not grow or is not known for long enough, and where it has no drives. */
  fullInMin(report: PolicyReport, now: number): number | null {
    if (report.capacity > 0 && report.usedBytes >= report.capacity) return 0;
    const left = report.capacity === 0 ? undefined : this.#msUntilFull(report, now);
    return left === undefined ? null : Math.max(0, Math.trunc(left / MS_A_MINUTE));
  }

  #msUntilFull({ policy, usedBytes, capacity }: PolicyReport, now: number): number | undefined {
    const first = this.#samples.get(policy.index)?.[0];
    // A first upload is the whole of a short history: its pace says nothing of the hours to come.
    if (!first || now - first.at < HISTORY_MS || usedBytes <= first.used) return undefined;
    return (capacity - usedBytes) / ((usedBytes - first.used) / (now - first.at));
  }
}
