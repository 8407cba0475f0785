import type { CapacityMode, CapacityThresholds, CapacityWatch } from '@granary/storage';
import type { PoolReport } from '../engine/report.ts';
import type { Pool } from './pool.ts';

/** How full a pool is. */
export interface CapacityState {
  readonly mode: CapacityMode;
  readonly freeBytes: number;
  /** Until it is full, at the rate of its history; infinite when nothing is being used up. */
  readonly minutesLeft: number;
  /** Less is free than the configured minimum: snapshots are deleted. */
  readonly isBelowLeast: boolean;
}

export interface Watches {
  /** Of the bytes as they lie there. */
  readonly plain: CapacityWatch;
  /** Of what servers wrote, before it was reduced. */
  readonly effective: CapacityWatch;
}

const BY_URGENCY: readonly CapacityMode[] = ['normal', 'alert', 'protected', 'emergency'];

export function isWorse(mode: CapacityMode, than: CapacityMode): boolean {
  return BY_URGENCY.indexOf(mode) > BY_URGENCY.indexOf(than);
}

/** Exact: what the pool may use of its groups, less what it uses. While it shrinks the engine allows less already. */
export function freeBytesOf(pool: Pick<Pool, 'capacityBytes'>, report: PoolReport | undefined): number {
  if (report?.isOpen !== true) return 0;
  return Math.max(0, Math.min(pool.capacityBytes, report.totalBytes) - report.usedBytes);
}

export function plainThresholds(pool: Pool): CapacityThresholds {
  return {
    historyMinutes: pool.historyMinutes,
    alertMinutes: pool.alertMinutes,
    protectedMinutes: pool.protectedMinutes,
    emergencyBytes: pool.emergencyBytes,
  };
}

export function effectiveThresholds(pool: Pool): CapacityThresholds {
  return {
    historyMinutes: pool.effectiveHistoryMinutes,
    alertMinutes: pool.effectiveAlertMinutes,
    protectedMinutes: pool.effectiveProtectedMinutes,
    emergencyBytes: pool.effectiveEmergencyBytes,
  };
}

/**
 * The worse of two views: of the bytes as they lie there, and of what servers could still write into what is free if
 * it shrinks as what is there did.
 */
export function evaluateCapacity(pool: Pool, report: PoolReport, { plain, effective }: Watches): CapacityState {
  const { usedBytes, savedBytes } = report;
  const freeBytes = freeBytesOf(pool, report);
  const ratio = usedBytes > 0 ? (usedBytes + savedBytes) / usedBytes : 1;
  const effectiveFree = freeBytes * ratio;
  const modes = [plain.mode(freeBytes), effective.mode(effectiveFree)] as const;
  return {
    mode: isWorse(modes[1], modes[0]) ? modes[1] : modes[0],
    freeBytes,
    minutesLeft: Math.min(minutes(freeBytes, plain), minutes(effectiveFree, effective)),
    isBelowLeast: freeBytes < plain.thresholds.emergencyBytes || effectiveFree < effective.thresholds.emergencyBytes,
  };
}

function minutes(freeBytes: number, watch: CapacityWatch): number {
  const rate = watch.bytesPerMinute();
  return rate === 0 ? Infinity : freeBytes / rate;
}
