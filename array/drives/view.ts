import type { RecordOf } from '@granary/contract';
import type { Drive as DriveRecord } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import { statusOf, type Drive } from './drive.ts';

export function viewOfDrive(drive: Drive): RecordOf<typeof DriveRecord> {
  const { record, placed } = drive;
  return {
    name: record.name,
    display_name: record.displayName,
    disk_type: placed.medium.toUpperCase(),
    disk_uuid: record.uuid,
    storage_node: placed.node,
    vpartition_id: placed.number,
    raid_group_name: record.raidGroup,
    usage: record.raidGroup === null ? 'Available' : 'In-use',
    status: statusOf(drive),
    capacity: placed.capacityGb,
    allocation_group: placed.type,
    cache: placed.cache ? 'YES' : 'NO',
    allocation_zone: placed.zone,
    allocation_zone_display_name: placed.zoneDisplayName,
    created_at: formatUtc(record.createdAt),
    modified_at: formatUtc(record.modifiedAt),
  };
}
