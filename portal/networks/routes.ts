import type { PortalHandlers } from '../handlers.ts';
import type { NetworkService } from './service.ts';
import type { VlanService } from './vlans/service.ts';

export function networkRoutes(networks: NetworkService, vlans: VlanService): PortalHandlers {
  return {
    vlans: {
      list: (page, context) => {
        const { vlans: data, total } = vlans.list(page);
        context.total = total;
        return { data };
      },
      listAvailable: ({ provider_id: providerId }) => ({ data: vlans.listAvailable(providerId) }),
      allocate: async (input, { actor }) => ({ message: await vlans.allocate(input, actor) }),
      deallocate: async (input, { actor }) => ({ message: await vlans.deallocate(input, actor) }),
      setDefault: async (input, { actor }) => ({ message: await vlans.setDefault(input, actor) }),
    },
    virtualNetworks: {
      list: (page, context) => {
        const { networks: data, total } = networks.list(context.actor, page);
        context.total = total;
        return { data };
      },
      create: async (input, { actor }) => ({ data: await networks.create(input, actor) }),
      delete: async (input, { actor }) => ({ message: await networks.delete(input, actor) }),
    },
  };
}
