import { bytes } from '@granary/kernel';
import { GB } from '../units.ts';

/** How a new pool is watched. What counts after data reduction is off until somebody sets it. */
export const DEFAULT_THRESHOLDS = {
  historyMinutes: 60,
  alertMinutes: 60,
  protectedMinutes: 10,
  effectiveHistoryMinutes: 60,
  effectiveAlertMinutes: 0,
  effectiveProtectedMinutes: 0,
  effectiveEmergencyBytes: bytes(0),
} as const;

/** Of a pool so small that this is much of it, no snapshot is given up unless somebody asks for it. */
export const DEFAULT_EMERGENCY_BYTES = bytes(GB);
export const EMERGENCY_FROM_BYTES = 20 * GB;
