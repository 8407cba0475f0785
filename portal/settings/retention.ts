import type { Db } from '@granary/kernel';
import { readSetting } from './repository.ts';

export const RETENTION = 'array_retention_hours';
const HOURS_DEFAULT = 24;
const HOUR_MS = 3_600_000;

export function retentionHours(db: Db): number {
  const kept = readSetting(db, RETENTION);
  return kept === undefined ? HOURS_DEFAULT : Number(kept);
}

/** How long an array that is deleted now can be undeleted. */
export function retentionMs(db: Db): number {
  return retentionHours(db) * HOUR_MS;
}
