import type { Readings } from '../readings/readings.ts';

/** Why not all of a pool can be read and written; undefined when it can be. */
export function damageOf(pool: string, groups: readonly string[], readings: Readings): string | undefined {
  const report = readings.pool(pool);
  if (!report) return 'it is not on its drives any more';
  if (!report.isOpen) return 'its metadata cannot be read';
  const failed = groups.filter((group) => readings.group(group)?.state === 'failed');
  if (failed.length === 0) return undefined;
  return failed.length === 1 ? `RAID group ${failed[0]} has failed` : `RAID groups ${failed.join(', ')} have failed`;
}
