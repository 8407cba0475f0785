import type { RecordOf } from '@granary/contract';
import type { Drive as DriveRecord } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import { statusOf, type Drive } from './drive.ts';

export function viewOfDrive(drive: Drive): RecordOf<typeof DriveRecord> {
  const { record: row, placed } = drive;
  return {
    name: row.name,
    display_name: row.displayName,
    disk_type: placed.medium.toUpperCase(),
    disk_uuid: row.uuid,
    storage_node: placed.node,
    vpartition_id: placed.number,
    raid_group_name: row.raidGroup,
    usage: row.raidGroup === null ? 'Available' : 'In-use',
    status: statusOf(drive),
    capacity: placed.capacityGb,
    allocation_group: placed.type,
    cache: placed.cache ? 'YES' : 'NO',
    allocation_zone: placed.zone,
    allocation_zone_display_name: placed.zoneDisplayName,
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}
