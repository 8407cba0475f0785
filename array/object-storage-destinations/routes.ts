import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { DestinationRow } from './repository.ts';
import type { ObjectStorageDestinations } from './service.ts';

export function objectStorageRoutes(service: ObjectStorageDestinations): ArrayHandlers<'objectStorageDestinations'> {
  return {
    list: ({ start, limit }) => {
      const { rows, count } = service.list(start, limit);
      return { object_storage_destinations: rows.map(viewOf), count };
    },
    create: async (input, { actor }) => ({
      object_storage_destination: viewOf(await service.create(input, actor.username)),
    }),
  };
}

function viewOf(row: DestinationRow) {
  return {
    name: row.name,
    display_name: row.display_name,
    type: row.type,
    bucket: row.bucket,
    endpoint: row.endpoint,
    username: row.username,
    connect_via: row.connect_via,
    allow_lifecycle_policies: row.allow_lifecycle_policies === 1 ? ('YES' as const) : ('NO' as const),
    proxy_host: row.proxy_host,
    proxy_port: row.proxy_port,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}
