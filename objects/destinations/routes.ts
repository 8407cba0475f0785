import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { DestinationGrants } from './grants.ts';
import { destinationName } from './names.ts';
import type { Destinations, KnownDestination } from './service.ts';

export function destinationRoutes(
  destinations: Destinations,
  grants: DestinationGrants,
): ObjectsHandlers<'destinations'> {
  return {
    list: ({ container_account: account }) => {
      const found = destinations.list(account);
      return { container_replication_targets: found.map(viewOf), count: found.length };
    },
    get: ({ 'target-ext-name': name }) => ({ target: viewOf(destinations.get(name)) }),
    create: async (input, { actor }) => {
      await destinations.create(input, actor.username);
      return {};
    },
    update: async ({ 'ext-name': name, region_name, region_name_text, ...changes }, { actor }) => {
      const region = region_name_text ?? region_name;
      await destinations.update(name, { ...changes, region }, actor.username);
      return {};
    },
    delete: async ({ 'ext-name': name, force }, { actor }) => {
      await destinations.delete(name, force, actor.username);
      return {};
    },
    listGrants: ({ 'ext-name': name }) => {
      const found = grants.list(name);
      return { grants: found, count: found.length };
    },
    grant: async ({ 'ext-name': name, account_id: account, own_prefix: ownPrefix }, { actor }) => {
      await grants.grant(name, { account, ownPrefix }, actor.username);
      return {};
    },
    revoke: async ({ 'ext-name': name, account_id: account }, { actor }) => {
      await grants.revoke(name, account, actor.username);
      return {};
    },
  };
}

function viewOf({ row, secret, buckets }: KnownDestination) {
  return {
    id: row.id,
    job_count: buckets,
    state: 'Enabled',
    endpoint: row.endpoint,
    access: row.access_key,
    secret,
    region: row.region,
    network: row.connect_via === 'fe' ? 'feip' : 'outnet',
    type: row.type,
    ext_name: destinationName(row.id),
    display_name: row.display_name,
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}
