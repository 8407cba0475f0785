import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { Destination } from './destination.ts';
import type { ObjectStorageDestinationService } from './service.ts';

export function objectStorageRoutes(
  service: ObjectStorageDestinationService,
): ArrayHandlers<'objectStorageDestinations'> {
  return {
    list: ({ start, limit }) => {
      const { destinations, count } = service.list(start, limit);
      return { object_storage_destinations: destinations.map(viewOf), count };
    },
    create: async (input, { actor }) => ({
      object_storage_destination: viewOf(await service.create(input, actor.username)),
    }),
  };
}

function viewOf(destination: Destination) {
  return {
    name: destination.name,
    display_name: destination.displayName,
    type: destination.type,
    bucket: destination.bucket,
    endpoint: destination.endpoint,
    username: destination.username,
    connect_via: destination.connectVia,
    allow_lifecycle_policies: destination.allowsLifecyclePolicies ? ('YES' as const) : ('NO' as const),
    proxy_host: destination.proxyHost,
    proxy_port: destination.proxyPort,
    created_at: formatUtc(destination.createdAt),
    modified_at: formatUtc(destination.modifiedAt),
  };
}
