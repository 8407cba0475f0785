import type { ShownTimes } from '../inventory/service.ts';
import { storedGigabytes } from '../wording.ts';
import type { KnownDrive } from './service.ts';

/** The array is in one region. */
const REGION_ID = 1;

/** One that the array never had open is absent; one that it lost has failed. */
function statusOf(report: KnownDrive['report']): 'Absent' | 'Failed' | 'Normal' {
  if (report === undefined) return 'Absent';
  return report.state === 'absent' ? 'Failed' : 'Normal';
}

function identityOf({ name, drive, report, controller, policy }: KnownDrive, times: ShownTimes) {
  return {
    name,
    display_name: name,
    disk_type: drive.type,
    disk_uuid: drive.uuid,
    storage_node: drive.node,
    vc: controller,
    allocation_zone: drive.zone,
    allocation_zone_display_name: drive.zoneDisplayName,
    storage_policy: policy,
    status: statusOf(report),
    capacity: drive.capacityGb,
    ...times,
  };
}

export function driveView(known: KnownDrive, times: ShownTimes) {
  const { report, policyType, zoneId } = known;
  return {
    ...identityOf(known, times),
    region_id: REGION_ID,
    zone_id: zoneId,
    policy_type: policyType,
    // Drives are protected by the copies and fragments of their policy alone.
    capacity_protection: null,
    used_capacity: usedOf(known),
    partition_count_degraded: report?.degraded ?? 0,
    partition_count_critical: report?.critical ?? 0,
  };
}

function usedOf({ report }: KnownDrive): number {
  return storedGigabytes(report?.usedBytes ?? 0);
}

/** As a virtual controller shows it. */
export function servedDriveView(known: KnownDrive, times: ShownTimes) {
  const used = usedOf(known);
  const total = known.drive.capacityGb;
  return {
    ...identityOf(known, times),
    used_capacity: used,
    avail_capacity: Math.max(0, total - used),
    total_capacity: total,
  };
}
