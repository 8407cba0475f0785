import { bytes } from '@granary/kernel';
import { GB } from '../units.ts';

/** How a new pool is watched. The thresholds after data reduction are off until they are set. */
export const DEFAULT_THRESHOLDS = {
  historyMinutes: 60,
  alertMinutes: 60,
  protectedMinutes: 10,
  effectiveHistoryMinutes: 60,
  effectiveAlertMinutes: 0,
  effectiveProtectedMinutes: 0,
  effectiveEmergencyBytes: bytes(0),
} as const;

/** A pool so small that this is much of it deletes no snapshots unless the threshold is set. */
export const DEFAULT_EMERGENCY_BYTES = bytes(GB);
export const EMERGENCY_FROM_BYTES = 20 * GB;
