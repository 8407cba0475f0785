import type { RecordOf } from '@granary/contract';
import type { Drive as DriveRecord } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import { statusOf, type Drive } from './drive.ts';

export function viewOfDrive(drive: Drive): RecordOf<typeof DriveRecord> {
  const { row, placed } = drive;
  return {
    name: row.name,
    display_name: row.display_name,
    disk_type: placed.medium.toUpperCase(),
    disk_uuid: row.uuid,
    storage_node: placed.node,
    vpartition_id: placed.number,
    raid_group_name: row.raid_group,
    usage: row.raid_group === null ? 'Available' : 'In-use',
    status: statusOf(drive),
    capacity: placed.capacityGb,
    allocation_group: placed.type,
    cache: placed.cache ? 'YES' : 'NO',
    allocation_zone: placed.zone,
    allocation_zone_display_name: placed.zoneDisplayName,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}
