import { formatUtc } from '@granary/kernel';
import { destinationName } from './names.ts';
import type { KnownDestination } from './service.ts';

export function destinationView({ destination, secret, buckets }: KnownDestination) {
  return {
    id: destination.id,
    job_count: buckets,
    state: 'Enabled',
    endpoint: destination.endpoint,
    access: destination.accessKey,
    secret,
    region: destination.region,
    network: destination.connectVia === 'fe' ? 'feip' : 'outnet',
    type: destination.type,
    ext_name: destinationName(destination.id),
    display_name: destination.displayName,
    created_at: formatUtc(destination.createdAt),
    modified_at: formatUtc(destination.modifiedAt),
  };
}
