import type { PortalHandlers } from '../handlers.ts';
import type { ProviderGroups } from './groups.ts';
import type { ProviderService } from './service.ts';

export function providerRoutes(providers: ProviderService): PortalHandlers {
  return {
    providers: {
      list: (page, context) => {
        const { providers: data, total } = providers.list(context.actor, page);
        context.total = total;
        return { data };
      },
      get: ({ id }, { actor }) => ({ data: providers.get(actor, id) }),
      create: async (input, { actor }) => ({ data: { provider_id: await providers.create(input, actor.username) } }),
      update: async ({ id, ...change }, { actor }) => ({
        data: { provider_id: await providers.update(id, change, actor) },
      }),
      delete: async ({ id }, { actor }) => {
        await providers.delete(id, actor);
        return {};
      },
    },
  };
}

export function providerGroupRoutes(groups: ProviderGroups): PortalHandlers {
  return {
    providerGroups: {
      list: (page, context) => {
        const { groups: shown, total } = groups.list(page);
        context.total = total;
        return { data: { provider_groups: shown } };
      },
      get: ({ id }) => ({ data: { provider_group: groups.get(id) } }),
      create: async ({ name }, { actor }) => ({ data: { provider_group_id: await groups.create(name, actor) } }),
      update: async ({ id, name }, { actor }) => ({
        data: { provider_group_id: await groups.rename(id, name, actor) },
      }),
      delete: async ({ id }, { actor }) => {
        await groups.delete(id, actor);
        return {};
      },
    },
  };
}
