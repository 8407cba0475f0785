import { Pool, type RaidGroup } from '@granary/storage';
import { checkFilesystem, isFormatted } from '@granary/storage/filesystem';
import { reasonOf } from './refused.ts';

/**
 * Walks the filesystems of a pool's shares; what does not hold, in words. An encrypted one cannot be read without its key
 * and is left out. The metadata is a copy, and writes to the groups stay in memory.
 */
export async function checkShares(
  file: string,
  groups: readonly RaidGroup[],
  isShare: (volume: string) => boolean,
): Promise<string[]> {
  const findings: string[] = [];
  const pool = Pool.open({ file, groups, onError: () => undefined });
  try {
    for (const volume of pool.volumes.list()) {
      if (!isShare(volume.id) || volume.isLocked || pool.volumes.stateOf(volume.id) === 'moved') continue;
      try {
        if (!(await isFormatted(volume))) findings.push(`Share ${volume.id} has no filesystem`);
        else findings.push(...(await checkFilesystem(volume)).findings.map((what) => `Share ${volume.id}: ${what}`));
      } catch (error) {
        findings.push(`Share ${volume.id} cannot be checked: ${reasonOf(error)}`);
      }
    }
  } finally {
    await pool.close();
  }
  return findings;
}
