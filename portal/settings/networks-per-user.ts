import type { Db } from '@granary/kernel';
import { readSetting } from './repository.ts';

export const NETWORKS_PER_USER = 'networks_per_user';
const NETWORKS_DEFAULT = 16;

export function networksPerUser(db: Db): number {
  const kept = readSetting(db, NETWORKS_PER_USER);
  return kept === undefined ? NETWORKS_DEFAULT : Number(kept);
}
