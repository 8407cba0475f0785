import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { Destination } from './destination.ts';
import type { ObjectStorageDestinationService } from './service.ts';

export function objectStorageRoutes(
  service: ObjectStorageDestinationService,
): ArrayHandlers<'objectStorageDestinations'> {
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

function viewOf(row: Destination) {
  return {
    name: row.name,
    display_name: row.displayName,
    type: row.type,
    bucket: row.bucket,
    endpoint: row.endpoint,
    username: row.username,
    connect_via: row.connectVia,
    allow_lifecycle_policies: row.allowsLifecyclePolicies ? ('YES' as const) : ('NO' as const),
    proxy_host: row.proxyHost,
    proxy_port: row.proxyPort,
    created_at: formatUtc(row.createdAt),
    modified_at: formatUtc(row.modifiedAt),
  };
}
