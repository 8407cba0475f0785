import type { StorageReport, PolicyReport as KeptPolicy } from '@granary/storage/objects';
import type { EngineReport, PolicyReport } from '../report.ts';

export function reportOf({ at, policies }: StorageReport, defaultPolicy: number | null): EngineReport {
  return { at, policies: policies.map(policyOf), defaultPolicy };
}

function policyOf({ policy, usedBytes, capacity, ...placement }: KeptPolicy): PolicyReport {
  const { critical, degraded } = placement.partitions;
  return {
    policy,
    isUsable: placement.ringVersion > 0,
    health: critical > 0 ? 'critical' : degraded > 0 ? 'degraded' : 'normal',
    usedBytes,
    capacity,
    placement,
  };
}
