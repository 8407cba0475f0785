import type { LayoutState } from './layout-state.ts';
import { PARTITIONS_PER_POLICY } from '../blobs/pieces.ts';
import type { DriveReport, StorageReport, PolicyReport } from './manager-types.ts';
import type { Rebalancer } from './rebalancer.ts';

interface Counts {
  normal: number;
  degraded: number;
  critical: number;
}

/** How everything is now. Costs a walk over partitions, not over blobs. */
export function reportOf(
  state: LayoutState,
  rebalancer: Pick<Rebalancer, 'progress'>,
  usedBytes: (drive: number) => number,
): StorageReport {
  const perDrive = new Map<number, Counts>();
  const policies = state.policies.map((policy): PolicyReport => {
    const rows = state.drivesOf(policy.index).filter(({ stage }) => stage !== 'left');
    const ring = state.ring(policy.index);
    return {
      policy,
      ringVersion: ring?.version ?? 0,
      partitions: { total: ring?.partitions ?? 0, ...countPartitions(state, policy.index, perDrive) },
      rebalance: rebalancer.progress(policy.index),
      rebalancedAt: ring?.rebalancedAt ?? null,
      usedBytes: rows.reduce((sum, { number }) => sum + usedBytes(number), 0),
      capacity: rows.reduce((sum, { capacity }) => sum + capacity, 0),
      drives: rows.map(({ number }) => number),
    };
  });
  const drives = state.drives.map(({ number, uuid, policy, stage, capacity }): DriveReport => {
    const isGoing = stage === 'leaving' || stage === 'left';
    return {
      number,
      uuid,
      policy,
      state: !state.isLive(number) ? 'absent' : isGoing ? 'leaving' : 'normal',
      usedBytes: usedBytes(number),
      capacity,
      degraded: perDrive.get(number)?.degraded ?? 0,
      critical: perDrive.get(number)?.critical ?? 0,
    };
  });
  return { at: state.now(), policies, drives };
}

function countPartitions(state: LayoutState, policy: number, perDrive: Map<number, Counts>): Counts {
  const total: Counts = { normal: 0, degraded: 0, critical: 0 };
  const ring = state.ring(policy);
  if (!ring) return total;
  const layout = state.policy(policy);
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const health = state.partitions.health(policy * PARTITIONS_PER_POLICY + partition, layout, ring);
    total[health] += 1;
    if (health === 'normal') continue;
    for (const drive of ring.drives.subarray(partition * ring.slots, (partition + 1) * ring.slots)) {
      const counts = perDrive.get(drive) ?? { normal: 0, degraded: 0, critical: 0 };
      counts[health] += 1;
      perDrive.set(drive, counts);
    }
  }
  return total;
}
