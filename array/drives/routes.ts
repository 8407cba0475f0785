import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { Drive, Drives } from './service.ts';

export function driveRoutes(drives: Drives): ArrayHandlers<'drives'> {
  const page = ({ start, limit }: { start: number; limit: number }) => {
    const { drives: found, count } = drives.list(start, limit);
    return { disks: found.map(viewOf), count };
  };
  return {
    list: page,
    get: ({ id }) => ({ disk: viewOf(drives.get(id)) }),
    // No RAID group can be made yet, so every drive is free.
    listFree: page,
  };
}

function viewOf({ name, displayName, placed, createdAt, modifiedAt }: Drive) {
  return {
    name,
    display_name: displayName,
    disk_type: placed.medium.toUpperCase(),
    disk_uuid: placed.uuid,
    storage_node: placed.node,
    vpartition_id: placed.number,
    raid_group_name: null,
    usage: 'Available' as const,
    status: 'Available',
    capacity: placed.capacityGb,
    allocation_group: placed.type,
    cache: placed.cache ? ('YES' as const) : ('NO' as const),
    allocation_zone: placed.zone,
    allocation_zone_display_name: placed.zoneDisplayName,
    created_at: formatUtc(createdAt),
    modified_at: formatUtc(modifiedAt),
  };
}
