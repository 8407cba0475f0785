import { formatUtc, gigabytes } from '@granary/kernel';
import type { PolicyPlacement, PolicyReport } from '../engine/report.ts';
import type { ShownTimes } from '../inventory/service.ts';
import { storedGigabytes } from '../wording.ts';
import { ALERT_MODE_MIN, CAPACITY_HISTORY_MIN, EMERGENCY_MODE_PERCENTAGE } from './capacity.ts';
import type { KnownPolicy } from './service.ts';

const HUNDREDTHS = 100;
/** Of an engine that places objects by itself. */
const NO_PARTITIONS: PolicyPlacement['partitions'] = { total: 0, normal: 0, degraded: 0, critical: 0 };

export function policyView(known: KnownPolicy, times: ShownTimes) {
  const { name, displayName, typeName, said, report } = known;
  const { policy } = report;
  return {
    name,
    display_name: displayName,
    default: yesNo(known.isDefault),
    policy_index: policy.index,
    num_regions: 1,
    replication_mode: 'synchronous',
    policy_type: typeName,
    system: yesNo(false),
    number_of_mirrors: policy.copies,
    data_fragments: policy.dataFragments,
    parity_fragments: policy.parityFragments,
    ring_version: report.placement?.ringVersion ?? 0,
    type: 'object',
    state: stateOf(known),
    ...healthOf(known),
    total_drives: report.placement?.drives.length ?? 0,
    capacity: gigabytes(report.capacity),
    used_capacity: storedGigabytes(report.usedBytes),
    full_in_min: known.fullInMin,
    gb_per_month_cost: Number(said?.monthCost ?? '0'),
    capacity_mode: known.mode,
    capacity_history_min: CAPACITY_HISTORY_MIN,
    alert_mode_min: ALERT_MODE_MIN,
    emergency_mode_percentage: EMERGENCY_MODE_PERCENTAGE,
    can_reconfig: yesNo(rebalanceOf(report) === null),
    short_description: shortDescription(known),
    full_description: said?.description ?? null,
    reported_at: formatUtc(known.reportedAt),
    ...times,
  };
}

function stateOf({ report }: KnownPolicy): string {
  if (!report.isUsable) return 'uninitialized';
  return rebalanceOf(report) === null ? 'initialized' : 'rebalancing';
}

function rebalanceOf({ placement }: PolicyReport): PolicyPlacement['rebalance'] {
  return placement?.rebalance ?? null;
}

/** `rebalance_percentage` is 100 when nothing has to move. */
function healthOf({ report }: KnownPolicy) {
  const rebalance = rebalanceOf(report);
  const rebalancedAt = report.placement?.rebalancedAt ?? null;
  const { total, normal, degraded, critical } = report.placement?.partitions ?? NO_PARTITIONS;
  return {
    health_status: report.health,
    health_percentage: percentOf(normal, total, 100),
    rebalance_status: rebalance === null ? 'done' : 'in progress',
    rebalance_percentage: rebalance === null ? 100 : percentOf(rebalance.done, rebalance.total, 100),
    partition_percent_normal: percentOf(normal, total, 100),
    partition_percent_degraded: percentOf(degraded, total, 0),
    partition_percent_critical: percentOf(critical, total, 0),
    partition_count_normal: normal,
    partition_count_degraded: degraded,
    partition_count_critical: critical,
    partition_count_total: total,
    rebalanced_at: rebalancedAt === null ? null : formatUtc(rebalancedAt),
  };
}

function percentOf(part: number, whole: number, ofNothing: number): number {
  return whole === 0 ? ofNothing : Math.round((part / whole) * 100 * HUNDREDTHS) / HUNDREDTHS;
}

function shortDescription({ report: { policy } }: KnownPolicy): string {
  const { copies, dataFragments, parityFragments } = policy;
  return copies > 0 ? `${copies} copies` : `${dataFragments} data and ${parityFragments} parity fragments`;
}

function yesNo(value: boolean): 'YES' | 'NO' {
  return value ? 'YES' : 'NO';
}
