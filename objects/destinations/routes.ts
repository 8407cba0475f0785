import type { ObjectAccountService } from '../accounts/service.ts';
import type { ObjectsHandlers } from '../handlers.ts';
import type { DestinationGrants } from './grants.ts';
import type { DestinationService } from './service.ts';
import { destinationView } from './view.ts';

export function destinationRoutes(
  destinations: DestinationService,
  grants: DestinationGrants,
  accounts: Pick<ObjectAccountService, 'get'>,
): ObjectsHandlers<'destinations'> {
  return {
    list: ({ container_account: account }) => {
      const found = destinations.list(account);
      return { container_replication_targets: found.map(destinationView), count: found.length };
    },
    get: ({ 'target-ext-name': name }) => ({ target: destinationView(destinations.get(name)) }),
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
    listGranted: ({ account_id: account }, { actor }) => {
      const found = grants.listOf(accounts.get(actor, account).id);
      return { endpoints: found, count: found.length };
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
