import { GB } from '../units.ts';

/** How a new pool is watched. What counts after data reduction is off until somebody sets it. */
export const DEFAULT_THRESHOLDS = {
  capacity_history: 60,
  alert_mode: 60,
  protected_mode: 10,
  effective_capacity_history: 60,
  effective_alert_mode: 0,
  effective_protected_mode: 0,
  effective_emergency_mode: 0,
} as const;

/** Of a pool so small that this is much of it, no snapshot is given up unless somebody asks for it. */
export const DEFAULT_EMERGENCY_GB = 1;
export const EMERGENCY_FROM_BYTES = 20 * GB;
